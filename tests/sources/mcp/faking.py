"""Fake servers as the tests configure them, and a look at what runs on this machine."""

import os
import sys
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.waiting import what_is_left
from toolcrib.model import CallError, Outcome
from toolcrib.settings import own_servers_file
from toolcrib.sources.mcp import ServerCommand, ServerConfig
from toolcrib.store import FileStores, StorePlaces

FAKE = Path(__file__).with_name("fake_server.py")


def fake(*modes: str, id: str = "fake", **others: Any) -> ServerConfig:
    """A configured fake server; `others` are fields of `ServerConfig`."""
    return ServerConfig(id, ServerCommand(sys.executable, ("-S", str(FAKE), *modes)), **others)


def own_file() -> Path:
    """The operator's own file with servers, in a folder that is there: nothing in it waits."""
    path = own_servers_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def within_s(seconds: float) -> Callable[[], float]:
    """How much of so many seconds is left."""
    end = time.monotonic() + seconds
    return lambda: end - time.monotonic()


def text(outcome: Outcome) -> str:
    """The text of the first content block."""
    match outcome.content:
        case [{"text": str(words)}, *_]:
            return words
        case _:
            raise AssertionError(outcome)


def error(outcome: Outcome) -> CallError:
    assert outcome.error, outcome
    return outcome.error


def processes() -> dict[int, tuple[int, str]]:
    """Every process that is no zombie: its parent and its command line."""
    found: dict[int, tuple[int, str]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                after = (folder / "stat").read_text().rpartition(")")[2].split()
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if after[0] != "Z":
                found[int(folder.name)] = int(after[1]), line
    return found


def below(pid: int, every: dict[int, tuple[int, str]] | None = None) -> set[int]:
    """All descendants of a process, but for those that Python keeps for `multiprocessing`.

    Another test may have left those to its worker, where they stay until the worker ends.
    """
    every = processes() if every is None else every
    children = {
        each
        for each, (parent, line) in every.items()
        if parent == pid and "from multiprocessing." not in line
    }
    return children.union(*(below(child, every) for child in children))


def zombies(parent: int | None = None) -> list[int]:
    """Children of a process, of ours by default, that nobody collects however long one waits."""
    return what_is_left(lambda: _zombies(parent or os.getpid()))


def _zombies(parent: int) -> list[int]:
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                after = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if after[0] == "Z" and int(after[1]) == parent:
                found.append(int(folder.name))
    return found


def left_of(pids: Iterable[int]) -> dict[int, str]:
    """Those that run on however long one waits, by command line; returns as soon as none do."""
    wanted = set(pids)
    return what_is_left(
        lambda: {pid: line for pid, (_, line) in processes().items() if pid in wanted}
    )


@contextmanager
def nothing_left() -> Generator[None]:
    """See to it that all processes that start within have ended after it."""
    before = below(os.getpid())
    try:
        yield
    finally:
        left = left_of(below(os.getpid()) - before)
        assert not left, left


def stores_in(state: Path) -> FileStores:
    """What is known of servers in this folder."""
    return FileStores(StorePlaces(state))
