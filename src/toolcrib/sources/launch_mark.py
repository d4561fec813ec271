"""A mark in the environment of what was launched, by which it is found when all else is lost.

The launcher ends what it has started by its place in the tree of processes. A command that kills
the launcher is in no such place any more; its environment goes on to whatever it starts.
"""

import os
import secrets
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
VARIABLE = "TOOLCRIB_LAUNCHED"
MOST_LOOKS = 100


def new_mark() -> str:
    return secrets.token_hex(16)


def end_marked(mark: str) -> None:
    """Kill all that have the mark, and what they start meanwhile."""
    for _ in range(MOST_LOOKS):
        found = list(_marked(f"{VARIABLE}={mark}".encode()))
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def _marked(mark: bytes) -> Iterator[int]:
    """Those that run with this in their environment; what has ended has none."""
    if not PROC.is_dir():
        yield from _marked_elsewhere(mark.decode())
        return
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError):  # another user's, or it has ended meanwhile
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)


def _marked_elsewhere(mark: str) -> Iterator[int]:
    import psutil  # noqa: PLC0415 - few systems need it

    for process in psutil.process_iter():
        with suppress(psutil.Error):
            name, _, value = mark.partition("=")
            if process.environ().get(name) == value:
                yield process.pid
