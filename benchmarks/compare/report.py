"""The tables of the comparison. The best figure of a column is bold, whoever has it."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from benchmarks.compare.cells import Cell, Figures, Kept
from benchmarks.compare.child import EMBEDDER
from benchmarks.compare.sets import EVERYDAY
from benchmarks.compare.systems import SYSTEMS, WORDS
from benchmarks.markdown import table

NOTHING, EAGER = "–", "all tools, no search"
LARGE = "10000"
Column = Sequence[float | None]


def versions_line(kept: Kept) -> str:
    """The versions and the days, and what failed."""
    rows = [kept.cells[cell] for cell in sorted(kept.cells)]
    every = {row["system"]: row["version"] for row in rows}
    packages = {SYSTEMS[name].package: every[name] for name in SYSTEMS if name in every}
    said = ", ".join(f"{name} {version}" for name, version in packages.items())
    days, pythons = ({row[key] for row in rows} for key in ("date", "python"))
    when = " and ".join(sorted(days))
    line = f"Measured on {when} with Python {' and '.join(sorted(pythons))}: {said}."
    failed = [
        f"{row['system']}, {row['task']} {row['of']}: {row['figures']['failed']}."
        for row in rows
        if "failed" in row["figures"]
    ]
    return "\n".join([line, *failed])


def quality_table(kept: Kept) -> str:
    """Needs covered within 5, in per cent, as typed; of everyday the English part too."""
    sets = kept.of("find")
    plan = [(name, key) for name in sets for key in _keys(name)]
    columns = [_percent(kept, name, key) for name, key in plan]
    heads = [">everyday, English" if key == "english" else f">{name}" for name, key in plan]
    sizes = ["", *(_sizes(kept, name, key) for name, key in plan)]
    typed = table(["needs covered within 5, %", *heads], [sizes, *_rows(columns)])
    short = [_percent(kept, name, "keywords") for name in sets]
    return f"{typed}\n\n{table(['asked in keywords, %', *(f'>{x}' for x in sets)], _rows(short))}"


def empty_table(kept: Kept) -> str:
    """Of everyday: requests that nothing serves and were left empty, and those wrongly so."""
    right, wrong = (
        [_figure(_find(kept, name, EVERYDAY), key, 100) for name in SYSTEMS]
        for key in ("left_empty", "wrongly_empty")
    )
    figures = _find(kept, next(iter(SYSTEMS)), EVERYDAY)
    heads = [
        "everyday, %",
        f">nothing serves it, and nothing is shown ({figures.get('unanswerable', 0)} requests)",
        f">something serves it, and nothing is shown ({figures.get('requests', 0)} requests)",
    ]
    columns = [_best(right), _best(wrong, min)]
    return table(heads, [[name, *cells] for name, *cells in zip(SYSTEMS, *columns, strict=True)])


def cost_table(kept: Kept) -> str:
    """CPU of a search and a call, memory, start and tokens, by number of tools."""
    tables = [
        _by_size(kept, "CPU of one search, ms", "search", 1000),
        _by_size(kept, "CPU of one call, ms", "call", 1000),
        _by_size(kept, "memory (PSS) after the searches, MB", "memory", 1),
        _by_size(kept, "memory at its peak (RSS), MB", "peak", 1),
        _by_size(kept, "CPU until the first searches are answered, s", "start", 1),
        _by_size(kept, "tokens that a model is sent before it has searched", "surface", 1),
    ]
    return "\n\n".join(tables)


def embedder_line(kept: Kept) -> str:
    """What MiniLM has of the figures of those that search by meaning with it."""
    found = next((kept.figures(cell) for cell in kept.cells if cell.system == EMBEDDER), {})
    if not found:
        return "MiniLM alone was not measured."
    query, tool = 1000 * found["query"], 1000 * found["tool"]
    return (
        f"MiniLM alone takes {query:.1f} ms of CPU for a request and {tool:.1f} ms for a tool, "
        f"{found['memory']:.0f} MB, and {found['peak']:.0f} MB at its peak."
    )


def summary(kept: Kept) -> str:
    """The short table of the front page."""
    names = [name for name in SYSTEMS if name != WORDS]
    means = published_means(kept)
    heads = ["", ">everyday, English, %", f">{len(_published(kept))} published sets, %"]
    heads += [">CPU of a search at 10,000, ms", ">memory, MB"]
    columns = [
        _best([_figure(_find(kept, name, EVERYDAY), "english", 100) for name in names]),
        _best([means[name] for name in names]),
        _best([_figure(_cost(kept, name, LARGE), "search", 1000) for name in names], min),
        _best([_figure(_cost(kept, name, LARGE), "memory", 1) for name in names], min),
    ]
    return table(heads, [[name, *cells] for name, *cells in zip(names, *columns, strict=True)])


def published_means(kept: Kept) -> Mapping[str, float | None]:
    """By system, the mean of the sets but everyday, in per cent; None where one is missing."""
    return {
        system: _mean(
            [_figure(_find(kept, system, name), "within_5", 100) for name in _published(kept)]
        )
        for system in SYSTEMS
    }


def _published(kept: Kept) -> Sequence[str]:
    return [name for name in kept.of("find") if name != EVERYDAY]


def _keys(name: str) -> Sequence[str]:
    return ("within_5", "english") if name == EVERYDAY else ("within_5",)


def _percent(kept: Kept, name: str, key: str) -> list[str]:
    return _best([_figure(_find(kept, system, name), key, 100) for system in SYSTEMS])


def _rows(columns: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[name, *cells] for name, *cells in zip(SYSTEMS, *columns, strict=True)]


def _by_size(kept: Kept, title: str, figure: str, scale: float) -> str:
    sizes = kept.of("cost")
    columns = [
        _best([_figure(_cost(kept, name, size), figure, scale) for name in SYSTEMS], min)
        for size in sizes
    ]
    rows = _rows(columns)
    if figure == "surface":
        first = next(iter(SYSTEMS))
        every = [_figure(_cost(kept, first, size), "all_tools", 1) for size in sizes]
        rows.append([EAGER, *map(_said, every)])
    return table([title, *(f">{int(size):,} tools" for size in sizes)], rows)


def _find(kept: Kept, system: str, name: str) -> Figures:
    return kept.figures(Cell(system, "find", name))


def _cost(kept: Kept, system: str, size: str) -> Figures:
    return kept.figures(Cell(system, "cost", size))


def _figure(told: Figures, figure: str, scale: float) -> float | None:
    """None where it failed, and for a surface of nothing: there is no search tool."""
    value: float | None = told.get(figure)
    if value is None or (figure == "surface" and not value):
        return None
    return scale * value


def _mean(values: Column) -> float | None:
    """None if one is missing: a mean of the rest would be of other sets."""
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there and len(there) == len(values) else None


def _best(values: Column, best: Callable[[Sequence[float]], float] = max) -> list[str]:
    there = [value for value in values if value is not None]
    top = _said(best(there)) if there else ""
    said = list(map(_said, values))
    return [f"**{each}**" if each == top else each for each in said]


def _said(value: float | None) -> str:
    if value is None:
        return NOTHING
    bounds = (100, 1, 0.1, 0.001)
    digits = sum(value < each for each in bounds) if value else 0
    return f"{value:,.{digits}f}"


def _sizes(kept: Kept, name: str, key: str) -> str:
    told = next(chain((f for s in SYSTEMS if (f := _find(kept, s, name)).get("requests")), [{}]))
    requests = told.get("english_requests" if key == "english" else "requests", 0)
    return f"{requests} requests, {told.get('tools', 0):,} tools"
