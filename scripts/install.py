"""Installs with pip, and shows what it does: `python scripts/install.py --editable . --group dev`.

On a terminal one line changes from step to step; elsewhere there is a line a step. Should pip fail,
all that it said follows.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

LOOKING = "looking up"
"""Too short a step for a line of its own."""
STEPS = (
    (re.compile(r"Collecting (?P<what>[\w.-]+)"), LOOKING),
    (re.compile(r"Downloading (?P<what>\S+) \((?P<size>[^)]+)\)"), "fetching"),
    (re.compile(r"Using cached (?P<what>\S+) \((?P<size>[^)]+)\)"), "fetched before:"),
    (re.compile(r"Building (?:editable|wheel) for (?P<what>[\w.-]+)"), "building"),
    (re.compile(r"Installing collected packages: (?P<what>.+)"), "installing"),
)
FEW = 3


def step(line: str) -> str:
    """What a line of pip's says that it does now; empty if it says nothing of that kind."""
    for pattern, verb in STEPS:
        if found := pattern.match(line.strip()):
            parts = found.groupdict()
            names = parts["what"].split(", ")
            what = names[0] if len(names) <= FEW else f"{len(names)} packages"
            size = f" ({parts['size']})" if parts.get("size") else ""
            return f"{verb} {what}{size}"
    return ""


def install(arguments: Sequence[str]) -> int:
    """Run pip, show its steps, and return its exit status."""
    began, told = time.monotonic(), list[str]()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    with subprocess.Popen(  # noqa: S603 - pip, with what the Makefile says
        [*pip, "--progress-bar", "off", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        for line in process.stdout or ():
            told.append(line)
            _show(step(line))
    _show("", done=True)
    if process.returncode:
        sys.stderr.writelines(told)
    else:
        print(f"  {_installed(told)} in {time.monotonic() - began:.0f} s")
    return process.returncode


def _installed(lines: Sequence[str]) -> str:
    new = next(_after(lines, "Successfully installed "), "").split()
    return f"{len(new)} packages installed" if new else "all was there already"


def _after(lines: Sequence[str], start: str) -> Iterator[str]:
    return (line.removeprefix(start) for line in lines if line.startswith(start))


def _show(doing: str, *, done: bool = False) -> None:
    if not sys.stdout.isatty():
        if doing and not doing.startswith(LOOKING):
            print(f"  {doing}", flush=True)
    elif doing or done:
        sys.stdout.write(f"\r\x1b[2K{f'  {doing}'[:79] if doing else ''}")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
