"""One figure of the comparison: what it is of, how it is measured, and where it is kept."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from platform import python_version
from subprocess import PIPE
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Literal, NamedTuple

from benchmarks.compare.child import EMBEDDER
from benchmarks.compare.sets import EVERYDAY, asked, many_tools, queries_of, scored, tools_of
from benchmarks.compare.systems import SYSTEMS
from benchmarks.processes import cpu_seconds
from toolcrib.text.tokens import Tokenizer

MOST_SECONDS = 600
"""Of CPU. What takes more is stopped, and the page says so."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
"""Threads that wait for each other compute too, and it is CPU that is counted."""

LOOK_S = 2.0
"""How often the CPU of a process that measures is looked at."""

Figures = Mapping[str, Any]


class _TooMuch(Exception):
    """A process took more CPU than it may."""


class Cell(NamedTuple):
    """What is measured: the `cost` at a number of tools, or what it can `find` in a set."""

    system: str
    task: Literal["cost", "find"]
    of: str

    @property
    def package(self) -> str:
        return SYSTEMS[self.system].package if self.system in SYSTEMS else EMBEDDER


@dataclass(slots=True)
class Kept:
    """All figures so far, in a file that has each at once."""

    file: Path
    cells: dict[Cell, dict[str, Any]] = field(default_factory=dict[Cell, dict[str, Any]])

    @classmethod
    def read(cls, file: Path) -> "Kept":
        """Empty where there is no file."""
        if not file.exists():
            return cls(file)
        rows = json.loads(file.read_text(encoding="utf-8"))["cells"]
        return cls(file, {Cell(row["system"], row["task"], row["of"]): row for row in rows})

    def has(self, cell: Cell, version: str) -> bool:
        """Whether it was measured of this version, and did not fail."""
        row = self.cells.get(cell)
        return bool(row and row["version"] == version and "failed" not in row["figures"])

    def keep(self, cell: Cell, version: str, figures: Figures) -> None:
        now = datetime.now(UTC).date().isoformat()
        said = {"date": now, "python": python_version(), "version": version}
        self.cells[cell] = {**cell._asdict(), **said, "figures": figures}
        rows = [self.cells[each] for each in sorted(self.cells)]
        self.file.write_text(json.dumps({"cells": rows}, indent=1) + "\n", encoding="utf-8")

    def figures(self, cell: Cell) -> Figures:
        """Nothing where it was not measured."""
        return self.cells[cell]["figures"] if cell in self.cells else {}

    def of(self, task: Literal["cost", "find"]) -> list[str]:
        """The sets by name, everyday first, or the sizes, the smallest first."""
        found = {cell.of for cell in self.cells if cell.task == task}
        return sorted(found, key=int if task == "cost" else lambda name: (name != EVERYDAY, name))


def measure(cell: Cell, most_seconds: float) -> Figures:
    """What a process of its own tells; the last line of its complaint where it fails."""
    began = perf_counter()
    command = [sys.executable, "-m", "benchmarks.compare.child", cell.system, cell.task]
    with TemporaryDirectory(prefix="compare-") as home:
        env = {"PATH": os.environ["PATH"], "HOME": home, **ONE_THREAD}
        child = subprocess.Popen(  # noqa: S603 - ourselves
            command, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True, env=env
        )
        try:
            output, complaint = _answer(child, json.dumps(_request(cell)), most_seconds)
        except _TooMuch:
            return {"failed": f"more than {most_seconds:.0f} s of CPU"}
    if child.returncode:
        return {"failed": (complaint.strip().splitlines() or ["it said nothing"])[-1]}
    told = json.loads(output.splitlines()[-1])
    return {**_counted(cell, told), "seconds": round(perf_counter() - began, 1)}


def _answer(child: "subprocess.Popen[str]", request: str, most_seconds: float) -> tuple[str, str]:
    """What it prints and complains. A limit of the system would make its clock a coarse one.

    Raises `_TooMuch`.
    """
    given: str | None = request
    while True:
        try:
            return child.communicate(given, timeout=LOOK_S)
        except subprocess.TimeoutExpired:
            given = None  # it is on its way
            if cpu_seconds(child.pid) > most_seconds:
                child.kill()
                child.communicate()
                raise _TooMuch from None


def _request(cell: Cell) -> Mapping[str, Any]:
    finds = cell.task == "find"
    tools = tools_of(cell.of) if finds else many_tools(int(cell.of))
    queries = queries_of(cell.of) if finds else asked()
    return {"tools": [each.json() for each in tools], "queries": queries}


def _counted(cell: Cell, told: dict[str, Any]) -> Figures:
    if cell.task == "find":
        return scored(cell.of, told["found"])
    if "surface" in told:
        count = Tokenizer().count
        every = sum(count(_definition(each.json())) for each in many_tools(int(cell.of)))
        return {**told, "surface": sum(map(count, told["surface"])), "all_tools": every}
    return told


def _definition(tool: Mapping[str, Any]) -> str:
    shown = {key: tool[key] for key in ("name", "description", "parameters")}
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
