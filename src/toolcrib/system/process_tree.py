"""The processes below one of ours: what they are, what memory they take, and their end.

With /proc the launcher ends all that a command has started. Elsewhere the tree is read beforehand,
and what is left of it afterwards is ended.
"""

import os
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
        import psutil  # noqa: PLC0415 - some starts of servers need it, and nothing else

        with suppress(psutil.Error):
            return psutil.Process(self.pid).environ().get(name, "")
        return ""


def is_running(pid: int) -> bool:
    """Whether there is a process of this number, whoever owns it."""
    if not hasattr(os, "killpg"):  # where no Unix is, a signal of 0 is not as harmless
        import psutil  # noqa: PLC0415 - few systems need it

        return psutil.pid_exists(pid)
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def list_process_tree(pid: int) -> Sequence[ProcessInfo]:
    """The process and all below it, those above first; nothing if it has ended."""
    import psutil  # noqa: PLC0415 - the same

    found: list[ProcessInfo] = []
    for process in whole_tree(pid):
        with suppress(psutil.Error):
            found.append(ProcessInfo(process.pid, process.ppid(), tuple(process.cmdline())))
    return found


def whole_tree(pid: int) -> "Sequence[Process]":
    """The process and all below it; nothing if it has ended."""
    import psutil  # noqa: PLC0415 - few systems need it

    with suppress(psutil.Error):
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    return []


def descendants(pid: int) -> "Sequence[Process]":
    """Every process below this one now; none where /proc has them for the launcher to see."""
    return () if PROC.is_dir() else whole_tree(pid)[1:]


def kill_all(processes: "Sequence[Process]") -> None:
    """Kill those that still run; a number that another process has by now is left alone."""
    if not processes:
        return
    import psutil  # noqa: PLC0415 - the same

    for process in processes:
        with suppress(psutil.Error):
            process.kill()


class _ProcessStat(NamedTuple):
    parent: int
    session: int
    pages: int


def resident_bytes(pid: int) -> int | None:
    """The resident memory of all in the session that a process leads, and of all below it.

    Pages that several share are counted in each. None where the system does not tell.
    """
    if not PROC.is_dir():
        return _tree_memory(pid)
    processes = _read_processes()
    if pid not in processes:
        return None
    counted = {pid} | {each for each, stat in processes.items() if stat.session == pid}
    while more := {each for each, stat in processes.items() if stat.parent in counted} - counted:
        counted |= more
    return sum(processes[each].pages for each in counted) * os.sysconf("SC_PAGE_SIZE")


def _read_processes() -> dict[int, _ProcessStat]:
    """All processes that there are now, by /proc."""
    found: dict[int, _ProcessStat] = {}
    for folder in PROC.glob("[0-9]*"):
        try:
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        found[int(folder.name)] = _ProcessStat(*(int(after_name[at]) for at in (1, 3, 21)))
    return found


def _tree_memory(pid: int) -> int | None:
    """The same without /proc; None if the process has ended."""
    import psutil  # noqa: PLC0415 - the same

    sizes: list[int] = []
    for process in whole_tree(pid):
        with suppress(psutil.Error):
            sizes.append(process.memory_info().rss)
    return sum(sizes) if sizes else None
