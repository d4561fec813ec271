"""CPU seconds of commands: how much a person waits for, beside another checkout in the same run.

    python -m benchmarks.commands [--tools N] [--rounds N] [--vectors] [--before CHECKOUT]

Each checkout (its `.venv` has the program) gets a home with N made tools, of servers that list them
and do nothing else, and a bare home: it has the tools that come with Toolcrib. The commands run in
turns, and the figures are medians. `--vectors` embeds the N tools, which takes minutes; without it
they are searched by words. The last rows are the same commands beside a daemon; a checkout whose
commands do not ask one does its own work there too.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from benchmarks.folder import SEED
from benchmarks.gateway_pool import DUMP_SERVER
from benchmarks.home import Home, Unusable
from benchmarks.markdown import put, table

NAME = "commands"
OF_ONE_SERVER = 250
VERBS = "create read update delete list search send move copy merge export import archive".split()
NOUNS = "issue invoice page message calendar file branch contact report order task note".split()
PLACES = "project account repository workspace team folder channel customer region queue".split()
QUERY = "send a message to a customer"
WORDS_ALONE = '[embed]\nembedder = "none"\n'
READY_S = 300.0


class Checkout(NamedTuple):
    """A program, and its two homes."""

    name: str
    program: Path
    bare: Home
    large: Home

    def run(self, home: Home, *words: str) -> float:
        """The CPU seconds of a command, its children included. Raises `Unusable` if it fails."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(  # noqa: S603 - our own program
            [str(self.program), *words], env=home.env, capture_output=True, text=True, check=False
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise Unusable(f"{self.program} {' '.join(words)} failed: {done.stderr}")
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


class Row(NamedTuple):
    """A command as a reader types it, in which home."""

    label: str
    home: Literal["bare", "large"]
    words: tuple[str, ...]


ALONE = (
    Row("--version", "bare", ("--version",)),
    Row("--help", "bare", ("--help",)),
    Row("search, tools that come along", "bare", ("search", QUERY)),
    Row("search", "large", ("search", QUERY)),
    Row("list", "large", ("list",)),
)
BESIDE = tuple(row._replace(label=f"{row.label}, with a daemon") for row in ALONE[3:])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tools", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="tc") as folder:
        here = Path(sys.executable).with_name("toolcrib")
        programs = {"now": here} | (
            {"before": given.before / ".venv" / "bin" / "toolcrib"} if given.before else {}
        )
        checkouts = [
            make_checkout(Path(folder) / name, name, program, given.tools, vectors=given.vectors)
            for name, program in programs.items()
        ]
        about = f"{given.tools:,} made tools, medians of {given.rounds} rounds in turns, CPU s"
        text = f"{about}\n\n{measured_table(checkouts, given.rounds)}"
    print(text)
    if given.markdown:
        put(given.markdown, NAME, text)


def make_checkout(folder: Path, name: str, program: Path, tools: int, *, vectors: bool) -> Checkout:
    """A checkout whose homes are filled, and which has listed and indexed its tools once."""
    bare, large = Home(folder / "bare"), Home(folder / "large")
    bare.folder.mkdir(parents=True)
    large.folder.mkdir()
    servers = {
        f"s{number}": _server(large.folder / f"s{number}.json", number, tools)
        for number in range(-(-tools // OF_ONE_SERVER))
    }
    large.configure("" if vectors else WORDS_ALONE, servers)
    checkout = Checkout(name, program, bare, large)
    checkout.run(large, "refresh")
    checkout.run(large, "index")
    checkout.run(bare, "index")
    return checkout


def _server(file: Path, number: int, tools: int) -> dict[str, object]:
    count = min(OF_ONE_SERVER, tools - number * OF_ONE_SERVER)
    random = Random(SEED + number)
    file.write_text(json.dumps({"tools": [_tool(random, each) for each in range(count)]}))
    return {"command": sys.executable, "args": ["-S", str(DUMP_SERVER), str(file)]}


def _tool(random: Random, number: int) -> dict[str, object]:
    verb, noun, place = random.choice(VERBS), random.choice(NOUNS), random.choice(PLACES)
    fields = random.sample([*NOUNS, *PLACES], 4)
    properties = {
        field: {"type": "string", "description": f"The {field} of the {noun}"} for field in fields
    }
    return {
        "name": f"{verb}_{place}_{noun}_{number}",
        "description": f"{verb.title()} one {noun} of a {place}, by its {fields[0]}.",
        "inputSchema": {"type": "object", "properties": properties, "required": fields[:1]},
    }


def measured_table(checkouts: Sequence[Checkout], rounds: int) -> str:
    """A row for each command, a column for each checkout."""
    alone = _measured(checkouts, ALONE, rounds)
    beside: list[dict[str, float]] = [{} for _ in BESIDE]
    for checkout in checkouts:  # one daemon at a time: two would share the machine
        with _daemon(checkout):
            for found, figures in zip(beside, _measured([checkout], BESIDE, rounds), strict=True):
                found.update(figures)
    rows = [
        [f"`toolcrib {row.label}`" if row in ALONE else row.label]
        + [f"{figures[checkout.name]:.2f}" for checkout in checkouts]
        for row, figures in zip((*ALONE, *BESIDE), (*alone, *beside), strict=True)
    ]
    return table(["command", *(f">{checkout.name}" for checkout in checkouts)], rows)


def _measured(
    checkouts: Sequence[Checkout], rows: Sequence[Row], rounds: int
) -> list[dict[str, float]]:
    """The median of each checkout, by its name, for each row."""
    taken: list[dict[str, list[float]]] = [{} for _ in rows]
    for _ in range(rounds):
        for row, found in zip(rows, taken, strict=True):
            for checkout in checkouts:
                home = {"bare": checkout.bare, "large": checkout.large}[row.home]
                found.setdefault(checkout.name, []).append(checkout.run(home, *row.words))
    return [{name: median(some) for name, some in found.items()} for found in taken]


@contextmanager
def _daemon(checkout: Checkout) -> Generator[None]:
    """A daemon with all tools runs meanwhile."""
    command = [str(checkout.program), "serve"]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, env=checkout.large.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _await_daemon(checkout)
            yield
        finally:
            process.terminate()


def _await_daemon(checkout: Checkout) -> None:
    """Until it answers, and has searched once: the first search builds what the others use."""
    end = time.monotonic() + READY_S
    while time.monotonic() < end:
        try:
            checkout.run(checkout.large, "gateway", "status")
        except Unusable:
            time.sleep(0.5)
            continue
        checkout.run(checkout.large, "search", QUERY)
        return
    raise Unusable(f"the daemon of {checkout.program} does not answer")


if __name__ == "__main__":
    main()
