"""The tables of the comparison. The best figure of a column is bold, whoever has it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.markdown import table

NOTHING = "–"
Measured = Mapping[str, Any]


def versions_line(measured: Measured) -> str:
    every = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    return f"Measured on {measured['date']} with Python {measured['python']}: {every}."


def quality_table(measured: Measured) -> str:
    """Needs covered within 5, in per cent."""
    systems = measured["systems"]
    sets = list(next(iter(systems.values()))["quality"])
    columns = [
        _best([_figure(each["quality"][name], "within_5", 100) for each in systems.values()])
        for name in sets
    ]
    sizes = ["", *(_sizes(systems, name) for name in sets)]
    rows = [[name, *cells] for name, *cells in zip(systems, *columns, strict=True)]
    return table(["needs covered within 5, %", *(f">{name}" for name in sets)], [sizes, *rows])


def cost_table(measured: Measured) -> str:
    """CPU of a search and a call, memory, start and tokens, by number of tools."""
    systems = measured["systems"]
    tables = [
        _by_size(systems, "CPU of one search, ms", "search", 1000),
        _by_size(systems, "CPU of one call, ms", "call", 1000),
        _by_size(systems, "memory for the tools and the search, MB", "memory", 1),
        _by_size(systems, "CPU until the first searches are answered, s", "start", 1),
        _by_size(systems, "tokens that a model is sent before it has searched", "surface", 1),
    ]
    return "\n\n".join(tables)


def summary(measured: Measured) -> str:
    """The short table of the front page."""
    systems = {name: each for name, each in measured["systems"].items() if "words" not in name}
    large = max(next(iter(systems.values()))["cost"], key=int)
    head = ["", ">everyday requests, %", f">CPU of a search at {int(large):,}, ms", ">memory, MB"]
    columns = [
        _best([_figure(each["quality"]["everyday"], "within_5", 100) for each in systems.values()]),
        _best([_figure(each["cost"][large], "search", 1000) for each in systems.values()], min),
        _best([_figure(each["cost"][large], "memory", 1) for each in systems.values()], min),
    ]
    return table(head, [[name, *cells] for name, *cells in zip(systems, *columns, strict=True)])


def _by_size(systems: Measured, title: str, figure: str, scale: float) -> str:
    sizes = list(next(iter(systems.values()))["cost"])
    columns = [
        _best([_figure(each["cost"][size], figure, scale) for each in systems.values()], min)
        for size in sizes
    ]
    rows = [[name, *cells] for name, *cells in zip(systems, *columns, strict=True)]
    return table([title, *(f">{int(size):,} tools" for size in sizes)], rows)


def _figure(told: Measured, figure: str, scale: float) -> float | None:
    """None where it failed, and for a surface of nothing: there is no search tool."""
    value = told.get(figure)
    return scale * value if value else None


def _best(
    values: Sequence[float | None], best: Callable[[Sequence[float]], float] = max
) -> list[str]:
    there = [value for value in values if value is not None]
    top = _said(best(there)) if there else ""
    said = [NOTHING if value is None else _said(value) for value in values]
    return [f"**{each}**" if each == top else each for each in said]


def _said(value: float) -> str:
    digits = 0 if value >= 100 else 1 if value >= 1 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}"


def _sizes(systems: Measured, name: str) -> str:
    told = next(iter(systems.values()))["quality"][name]
    return f"{told.get('requests', 0)} requests, {told.get('tools', 0):,} tools"
