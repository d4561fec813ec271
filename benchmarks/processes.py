"""What the processes of this machine take, as the system counts it."""

from contextlib import suppress
from pathlib import Path
from typing import Literal


def children(pid: int) -> set[int]:
    """The processes that a process has started itself, and that still run."""
    return {each for each, parent in _parents().items() if parent == pid}


def below(pid: int) -> set[int]:
    """All processes that a process has started, or that those have."""
    found, parents = set[int](), _parents()
    waiting = {each for each, parent in parents.items() if parent == pid}
    while waiting:
        found |= waiting
        waiting = {each for each, parent in parents.items() if parent in waiting}
    return found


def megabytes(pid: int | Literal["self"]) -> float:
    """The proportional set size: what is shared counts in parts. 0 for one that is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def resident_megabytes(which: Literal["VmRSS", "VmHWM"] = "VmRSS") -> float:
    """What of this process is in memory (RSS), or the most that was (`VmHWM`)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{which}:")) / 1024


def cpu_seconds(pid: int) -> float:
    """What a process has computed since its start, on all of its threads."""
    every = 0
    for file in Path(f"/proc/{pid}/task").glob("[0-9]*/schedstat"):
        with suppress(OSError):
            every += int(file.read_text(encoding="ascii").split()[0])
    return every / 1e9


def _parents() -> dict[int, int]:
    found: dict[int, int] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            after = file.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        found[int(file.parent.name)] = int(after[1])
    return found
