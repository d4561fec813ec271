"""The processes below one of ours: what they are, and their end where nobody else sees to it.

With /proc the launcher ends all that a command has started. Elsewhere the tree is read beforehand,
and what is left of it afterwards is ended.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from psutil import Process

PROC = Path("/proc")
LAUNCHER = Path(__file__).with_name("launcher.py")


class ProcessInfo(NamedTuple):
    """A process of a tree, as it was a moment ago. One that has ended has no command."""

    pid: int
    parent: int
    command: Sequence[str]

    @property
    def is_launcher(self) -> bool:
        """Whether it is one of those that stand between us and what we start."""
        return str(LAUNCHER) in self.command[:5]

    def variable(self, name: str) -> str:
        """A variable of its environment; empty if it has none such, or has ended."""
        import psutil  # noqa: PLC0415 - for starts of some servers alone

        with suppress(psutil.Error):
            return psutil.Process(self.pid).environ().get(name, "")
        return ""


def descendants(pid: int) -> "Sequence[Process]":
    """Every process below this one now; none where /proc has them for the launcher to see."""
    return () if PROC.is_dir() else whole_tree(pid)[1:]


def list_process_tree(pid: int) -> Sequence[ProcessInfo]:
    """The process and all below it, those above first; nothing if it has ended."""
    import psutil  # noqa: PLC0415 - as above

    seen: list[ProcessInfo] = []
    for process in whole_tree(pid):
        with suppress(psutil.Error):
            seen.append(ProcessInfo(process.pid, process.ppid(), tuple(process.cmdline())))
    return seen


def whole_tree(pid: int) -> "Sequence[Process]":
    """The process and all below it; nothing if it has ended."""
    import psutil  # noqa: PLC0415 - few systems need it

    with suppress(psutil.Error):
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    return []


def process_tree_memory(pid: int) -> int | None:
    """The resident memory of the process and all below it; None if it has ended."""
    import psutil  # noqa: PLC0415 - as above

    sizes: list[int] = []
    for process in whole_tree(pid):
        with suppress(psutil.Error):
            sizes.append(process.memory_info().rss)
    return sum(sizes) if sizes else None


def kill_all(processes: "Sequence[Process]") -> None:
    """Kill those that still run; a number that another process has by now is left alone."""
    if not processes:
        return
    import psutil  # noqa: PLC0415 - as above

    for process in processes:
        with suppress(psutil.Error):
            process.kill()
