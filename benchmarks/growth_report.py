"""The figures of growth: kept in a file, and as tables."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NamedTuple, Self

from benchmarks.checkout import BEFORE, NOW
from benchmarks.markdown import table

WORDS, MADE_UP, MODEL = "words", "made_up", "model"
FASTMCP, FASTMCP_CLIENT = "fastmcp, the function", "fastmcp, through a client"
PYDANTIC_AI = "pydantic-ai, the function"
TASK_OF = {"function": "change", "listed": "change"}
"""The task that a figure is from; all others are from the start."""


class Quantity(NamedTuple):
    """A row of the table: which figure, of which mode, and how it is written."""

    title: str
    mode: str
    figure: str
    scale: float = 1000.0
    digits: int = 2


QUANTITIES = (
    Quantity("warm start by words, CPU s", WORDS, "start", 1),
    Quantity("warm start with vectors, CPU s", MADE_UP, "start", 1),
    Quantity("memory by words, RSS MB", WORDS, "rss", 1, 0),
    Quantity("memory with vectors, RSS MB", MADE_UP, "rss", 1, 0),
    Quantity("– of it no file behind, MB", MADE_UP, "anonymous", 1, 0),
    Quantity("one search by words, CPU ms", WORDS, "search"),
    Quantity("– with vectors", MADE_UP, "search"),
    Quantity("– with the model, a new query", MODEL, "search"),
    Quantity("– by words, scoped to 1,000 tools", WORDS, "scoped"),
    Quantity("– the first one of a scope", WORDS, "scoped_first"),
    Quantity("one function more, CPU ms", WORDS, "function"),
    Quantity("one tool more on an MCP server, CPU ms", WORDS, "listed"),
)


@dataclass(slots=True)
class Figures:
    """What was measured of one system at one size: for each figure the value of every turn."""

    values: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    failures: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, mode: str, figures: Mapping[str, float]) -> None:
        for name, value in figures.items():
            self.values.setdefault(f"{mode}.{name}", []).append(value)

    def fail(self, mode: str, task: str, why: str) -> None:
        """A task did not come to its end. What did not settle cannot start."""
        self.failures[f"{mode}.{task}"] = why

    def has_failed(self, mode: str, task: str) -> bool:
        return any(f"{mode}.{each}" in self.failures for each in ("settle", task))

    def median(self, mode: str, figure: str) -> float | None:
        values = self.values.get(f"{mode}.{figure}")
        return median(values) if values else None

    def failure(self, mode: str, figure: str) -> str:
        """Why there is no such figure; "" if nobody tried."""
        tasks = ("settle", TASK_OF.get(figure, "start"))
        return next(filter(None, (self.failures.get(f"{mode}.{task}") for task in tasks)), "")


@dataclass(slots=True)
class Growth:
    """The figures of every size and system."""

    sizes: dict[int, dict[str, Figures]] = field(default_factory=dict[int, dict[str, Figures]])

    @classmethod
    def read(cls, file: Path | None) -> Self:
        """What a file has of earlier runs; nothing without one."""
        if file is None or not file.exists():
            return cls()
        kept = json.loads(file.read_text(encoding="utf-8"))
        return cls(
            {
                int(size): {name: Figures(**each) for name, each in systems.items()}
                for size, systems in kept.items()
            }
        )

    def write(self, file: Path | None) -> None:
        if file:
            kept = {
                size: {
                    name: {"values": each.values, "failures": each.failures}
                    for name, each in systems.items()
                }
                for size, systems in sorted(self.sizes.items())
            }
            file.write_text(json.dumps(kept, indent=1), encoding="utf-8")

    def at(self, size: int, system: str) -> Figures:
        return self.sizes.setdefault(size, {}).setdefault(system, Figures())

    def forget(self, size: int, system: str, modes: Iterable[str]) -> None:
        """Let go of what an earlier run has measured, of these modes."""
        place = self.at(size, system)
        for kept in (place.values, place.failures):
            for key in [each for each in kept if each.partition(".")[0] in modes]:
                del kept[key]

    def systems(self) -> Sequence[str]:
        """Ours first, in the order of time, then the others."""
        found = dict.fromkeys(name for systems in self.sizes.values() for name in systems)
        return sorted(found, key=lambda name: (name not in (BEFORE, NOW), name != BEFORE))

    def curve(self, system: str, mode: str, figure: str) -> list[tuple[int, float]]:
        """Sizes and medians, where there are any."""
        points = (
            (size, systems[system].median(mode, figure))
            for size, systems in sorted(self.sizes.items())
            if system in systems
        )
        return [(size, value) for size, value in points if value is not None]


def report(growth: Growth) -> str:
    """A row for each quantity and system, a column for each size."""
    sizes = sorted(growth.sizes)
    rows = [row for quantity in QUANTITIES for row in _rows(growth, quantity, sizes)]
    head = ["", "", *(f">{size:,} tools" for size in sizes)]
    return table(head, rows)


def _rows(growth: Growth, quantity: Quantity, sizes: Sequence[int]) -> Iterator[Sequence[str]]:
    title = f"**{quantity.title}**"
    for system in growth.systems():
        cells = [_cell(growth.sizes[size].get(system), quantity) for size in sizes]
        if any(cell != "–" for cell in cells):
            yield [title, system, *cells]
            title = ""
    ratios = [_ratio(growth.sizes[size], quantity) for size in sizes]
    if any(ratios):
        yield ["", "times less", *ratios]


def _cell(figures: Figures | None, quantity: Quantity) -> str:
    if figures is None:
        return "–"
    value = figures.median(quantity.mode, quantity.figure)
    if value is None:
        return figures.failure(quantity.mode, quantity.figure) or "–"
    return f"{quantity.scale * value:,.{quantity.digits}f}"


def _ratio(systems: Mapping[str, Figures], quantity: Quantity) -> str:
    before, now = (
        systems[name].median(quantity.mode, quantity.figure) if name in systems else None
        for name in (BEFORE, NOW)
    )
    if not before or not now:
        return ""
    ratio = before / now
    return f"{ratio:.1f}×" if ratio < 10 else f"{ratio:.0f}×"
