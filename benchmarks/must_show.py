"""The figures that "fast from the first second, small at any size" is held to, in one table.

    python -m benchmarks.must_show --before FOLDER --results growth.json --catalogs DIR [--turns 3]

`--before` names an earlier checkout with a `.venv` of its own. What grows with the tools and what
the model takes is read from the file that `benchmarks.growth --model 10000 --results` wrote; the
others are measured now: commands (`benchmarks.commands`) and gateways (`benchmarks.gateway`), those
of both checkouts in turns. What a side does not have is a dash. An aim that is missed
is said so: this is a report, not a test.
"""

import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.checkout import BEFORE, NOW, Checkout, Limits, this_checkout
from benchmarks.gateway import BEFORE as EARLIER
from benchmarks.gateway_report import HTTP, STDIO
from benchmarks.growth_report import MADE_UP, MODEL, WORDS, Figures, Growth
from benchmarks.home import Unusable
from benchmarks.markdown import NoMarks, put, table

NAME = "must_show"
LIMITS = Limits(3_600, 20)
CALLS, SLOW, STARTS = 300, 2, 5
DAEMON = "the daemon"
COMMANDS = {
    "`toolcrib --help`": "help",
    "`toolcrib search, tools that come along`": "search_29",
    "`toolcrib search`": "search_10000",
    "search, with a daemon": "search_10000_daemon",
}

Values = dict[str, list[float]]


class Row(NamedTuple):
    """What is measured, under which key, and what it should be at most."""

    title: str
    key: str
    aim: float
    digits: int = 2


ROWS = (
    Row("`toolcrib --help`, CPU s", "help", 0.15),
    Row("`toolcrib search` with 29 tools, CPU s", "search_29", 0.35),
    Row("`toolcrib search` with 10,000 tools, no daemon, CPU s", "search_10000", 0.6),
    Row("`toolcrib search` with 10,000 tools, a daemon, CPU s", "search_10000_daemon", 0.2),
    Row("warm start of a crib with 10,000 tools, CPU s", "start_10000", 0.15),
    Row("warm start of a crib with 100,000 tools, CPU s", "start_100000", 0.8),
    Row("memory of the daemon with 3,182 tools, PSS MB", "daemon", 120, 0),
    Row("memory with 100,000 tools and vectors, RSS MB", "memory_100000", 350, 0),
    Row("one tool more at 10,000, CPU ms", "more_10000", 2),
    Row("one tool more at 100,000, CPU ms", "more_100000", 10),
    Row("search by words at 10,000, CPU ms", "search_words_10000", 0.7),
    Row("search by words at 100,000, CPU ms", "search_words_100000", 3),
    Row("search by words at 1,000,000, CPU ms", "search_words_1000000", 20),
    Row("search by words, scoped to 1,000 of 100,000, CPU ms", "scoped_100000", 0.7),
    Row("new query with the model at 10,000, CPU ms", "new_query_10000", 5),
    Row("vectors of 10,000 tools, CPU s", "vectors_10000", 60, 0),
    Row("call through stdio, added p50, ms", "call_stdio", 1.0),
    Row("call through HTTP, added p50, ms", "call_http", 2.0),
    Row("`serve --stdio`, first reply with 3,182 tools, ms", "first_reply", 300, 0),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog=f"python -m benchmarks.{NAME}", description=__doc__)
    parser.add_argument("--before", type=Path, required=True, help="an earlier checkout")
    parser.add_argument("--results", type=Path, help="what benchmarks.growth kept")
    parser.add_argument("--catalogs", type=Path, help="one JSON file a server, for the gateways")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    said = parser.parse_args(arguments)
    try:
        text = report(_measured(said))
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoMarks, Unusable) as error:
        parser.error(str(error))


def _measured(said: Namespace) -> Mapping[str, Values]:
    """The values of every turn, by checkout and key."""
    before, now = Checkout.at(BEFORE, said.before, LIMITS), this_checkout(LIMITS)
    values: dict[str, Values] = {before.name: {}, now.name: {}}
    growth = Growth.read(said.results)
    _add(values, partial(from_growth, growth))
    commands = _printed(now, "commands", "--before", str(before.folder))
    _add(values, partial(from_commands, commands))
    for _ in range(said.turns if said.catalogs else 0):
        gateways = _gateways(now, before, said.catalogs)
        _add(values, partial(from_gateway, gateways))
    return values


def from_growth(growth: Growth, name: str) -> Mapping[str, float]:
    """What the file of growth has of a checkout, in the units of the rows."""
    return dict(_in_units(growth, name))


def _in_units(growth: Growth, name: str) -> Iterator[tuple[str, float]]:
    wanted = (
        ("start", WORDS, "start", 1),
        ("memory", MADE_UP, "rss", 1),
        ("more", WORDS, "function", 1000),
        ("search_words", WORDS, "search", 1000),
        ("scoped", WORDS, "scoped", 1000),
        ("new_query", MODEL, "search", 1000),
    )
    for size, systems in growth.sizes.items():
        figures = systems.get(name, Figures())
        for key, mode, figure, scale in wanted:
            value = figures.median(mode, figure)
            if value is not None:
                yield f"{key}_{size}", scale * value
        first, words = (figures.median(mode, "first_start") for mode in (MODEL, WORDS))
        if first is not None and words is not None:
            yield f"vectors_{size}", first - words


def from_commands(text: str, name: str) -> Mapping[str, float]:
    """What the column of a checkout says."""
    head = _cells(text, "command")
    rows = {label: _cells(text, label) for label in COMMANDS}
    return {
        COMMANDS[label]: _first_number(cells[head.index(name)])
        for label, cells in rows.items()
        if cells and name in head
    }


def from_gateway(text: str, name: str) -> Mapping[str, float]:
    """What its tables say of a checkout, each under its heading."""
    parts = {part.partition("**")[0]: part for part in text.split("\n\n**")}
    whose = EARLIER if name == BEFORE else ""
    rows = (
        ("call_stdio", "A call", STDIO, 1),
        ("call_http", "A call", HTTP, 1),
        ("first_reply", "The first reply", STDIO, 0),
        ("daemon", "Memory", DAEMON, 0),
    )
    found = {
        key: _cells(parts.get(part, ""), f"{whose}{label}")[place:]
        for key, part, label, place in rows
    }
    return {key: _first_number(cells[0]) for key, cells in found.items() if cells}


def report(values: Mapping[str, Values]) -> str:
    """A line for each row that was measured; a figure is the median of its turns."""
    head = ["", ">before", ">now", ">times less", ">aim", "reached"]
    lines = (_line(row, values[BEFORE].get(row.key), values[NOW].get(row.key)) for row in ROWS)
    return table(head, [line for line in lines if line])


def _line(row: Row, before: Sequence[float] | None, now: Sequence[float] | None) -> list[str]:
    if not before and not now:
        return []
    old, new = (median(each) if each else None for each in (before, now))
    cells = ["–" if each is None else f"{each:,.{row.digits}f}" for each in (old, new)]
    ratio = f"{old / new:.1f}×" if old and new else "–"
    reached = "–" if new is None else "yes" if new <= row.aim else "no"
    return [row.title, *cells, ratio, f"{row.aim:g}", reached]


def _add(values: Mapping[str, Values], found: Callable[[str], Mapping[str, float]]) -> None:
    """What is found of each checkout, after what is there."""
    for name, own in values.items():
        for key, value in found(name).items():
            own.setdefault(key, []).append(value)


def _gateways(checkout: Checkout, earlier: Checkout, catalogs: Path) -> str:
    counts = ["--calls", str(CALLS), "--slow", str(SLOW), "--starts", str(STARTS)]
    places = ["--catalogs", str(catalogs.resolve()), "--before", str(earlier.folder)]
    return _printed(checkout, "gateway", *places, *counts)


def _printed(checkout: Checkout, name: str, *options: str) -> str:
    """What a benchmark of a checkout prints. Raises `Unusable` when it fails."""
    print(f"{checkout.name}: {name}", file=sys.stderr)
    done = subprocess.run(  # noqa: S603 - our own program
        [str(checkout.python), "-m", f"benchmarks.{name}", *options],
        cwd=checkout.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unusable(f"{checkout.name}: benchmarks.{name} failed: {done.stderr[-2000:]}")
    return done.stdout


def _cells(text: str, label: str) -> list[str]:
    """The cells of the first row with this label, without it."""
    rows = (line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|"))
    return next((row[1:] for row in rows if row[0].strip() == label), [])


def _first_number(cell: str) -> float:
    return float(cell.split(maxsplit=1)[0].replace(",", "").lstrip("+"))


if __name__ == "__main__":
    main()
