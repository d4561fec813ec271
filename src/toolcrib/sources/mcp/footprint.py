"""How much memory a process takes, with all that it started."""

import os
from typing import NamedTuple

from toolcrib.sources.process_tree import PROC, process_tree_memory


class _Process(NamedTuple):
    parent: int
    session: int
    pages: int


def resident_bytes(pid: int) -> int | None:
    """The resident memory of all in the session that a process leads, and of all below it.

    Pages that several share are counted in each. None where the system does not tell.
    """
    if not PROC.is_dir():
        return process_tree_memory(pid)
    every = _processes()
    if pid not in every:
        return None
    wanted = {pid} | {each for each, process in every.items() if process.session == pid}
    while more := {each for each, process in every.items() if process.parent in wanted} - wanted:
        wanted |= more
    return sum(every[each].pages for each in wanted) * os.sysconf("SC_PAGE_SIZE")


def _processes() -> dict[int, _Process]:
    """All processes that are there now; none on systems without such a folder."""
    found: dict[int, _Process] = {}
    for folder in PROC.glob("[0-9]*"):
        try:
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        found[int(folder.name)] = _Process(*(int(after_name[at]) for at in (1, 3, 21)))
    return found
