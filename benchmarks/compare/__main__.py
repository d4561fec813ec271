"""Toolcrib beside what people would pick instead.

    make compare BENCH_DIR=DIR
    python -m benchmarks.compare --bench-dir DIR [--sizes 100,1000] [--sets everyday,metatool]

Every system is measured in a process of its own, one after the other. Writes docs/compare.json,
the tables of docs/compare.md, and docs/compare.svg.
"""

import json
import os
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from platform import python_version
from typing import Any

from benchmarks.compare.chart import drawn
from benchmarks.compare.report import cost_table, quality_table, summary, versions_line
from benchmarks.compare.systems import SYSTEMS, versions
from benchmarks.folder import VARIABLE, NoBench, add_bench_dir, bench_dir
from benchmarks.markdown import put

DOCS = Path(__file__).parents[2] / "docs"
SIZES = (100, 1_000, 10_000)
SETS = ("everyday", "azure_mcp_2025", "mcpproxy_golden", "metatool")
MOST_SECONDS = 300
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Threads that wait for each other compute too, and it is CPU that is counted."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of tools")
    parser.add_argument("--sets", default=",".join(SETS), help="the sets whose requests are asked")
    parser.add_argument("--draw", action="store_true", help="only make the page anew")
    said = parser.parse_args(arguments)
    kept = DOCS / "compare.json"
    try:
        if not said.draw:
            os.environ[VARIABLE] = str(bench_dir(said.bench_dir, os.environ))
            measured = measure(said.sizes.split(","), said.sets.split(","))
            kept.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    except NoBench as error:
        parser.error(str(error))
    write(json.loads(kept.read_text(encoding="utf-8")))


def measure(sizes: Sequence[str], sets: Sequence[str]) -> dict[str, Any]:
    """All figures by system, with the date and the versions."""
    figures = {
        name: {
            "quality": {each: _child(name, "quality", each) for each in sets},
            "cost": {size: _child(name, "cost", size) for size in sizes},
        }
        for name in SYSTEMS
    }
    now = datetime.now(UTC).date().isoformat()
    return {"date": now, "python": python_version(), "versions": versions(), "systems": figures}


def write(measured: dict[str, Any]) -> None:
    """The tables and the picture of the page."""
    page = DOCS / "compare.md"
    put(page, "versions", versions_line(measured))
    put(page, "quality", quality_table(measured))
    put(page, "cost", cost_table(measured))
    put(DOCS.parent / "README.md", "compare", summary(measured))
    (DOCS / "compare.svg").write_text(drawn(measured), encoding="utf-8")


def _child(name: str, task: str, what: str) -> dict[str, Any]:
    """What a process of its own tells; the last line of its complaint where it fails."""
    command = [sys.executable, "-m", "benchmarks.compare.child", name, task, what]
    try:
        done = subprocess.run(  # noqa: S603 - ourselves
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
            env=os.environ | ONE_THREAD,
        )
    except subprocess.TimeoutExpired:
        told: dict[str, Any] = {"failed": f"more than {MOST_SECONDS} s"}
    else:
        failed = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        told = (
            json.loads(done.stdout.splitlines()[-1]) if not done.returncode else {"failed": failed}
        )
    print(f"{name}, {task} {what}: {told}", file=sys.stderr, flush=True)
    return told


if __name__ == "__main__":
    main()
