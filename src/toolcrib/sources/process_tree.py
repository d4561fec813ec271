"""The processes below one of ours, on systems where the launcher cannot see them itself.

With /proc the launcher ends all that a command has started, and nothing here is needed. Elsewhere
the tree is read beforehand, and what is left of it afterwards is ended.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psutil import Process

PROC = Path("/proc")


def below(pid: int) -> "Sequence[Process]":
    """Every process below this one now; none where /proc has them for the launcher to see."""
    return () if PROC.is_dir() else tree(pid)[1:]


def tree(pid: int) -> "Sequence[Process]":
    """The process and all below it; nothing if it has ended."""
    import psutil  # noqa: PLC0415 - few systems need it

    with suppress(psutil.Error):
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    return []


def tree_bytes(pid: int) -> int | None:
    """The resident memory of the process and all below it; None if it has ended."""
    import psutil  # noqa: PLC0415 - as above

    sizes: list[int] = []
    for process in tree(pid):
        with suppress(psutil.Error):
            sizes.append(process.memory_info().rss)
    return sum(sizes) if sizes else None


def end(processes: "Sequence[Process]") -> None:
    """Kill those that still run; a number that another process has by now is left alone."""
    if not processes:
        return
    import psutil  # noqa: PLC0415 - as above

    for process in processes:
        with suppress(psutil.Error):
            process.kill()
