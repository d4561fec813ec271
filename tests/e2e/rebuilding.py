"""A process that rebuilds an index until it is killed. A module of its own, for child processes."""

from itertools import cycle
from multiprocessing.synchronize import Event
from pathlib import Path

from tests.catalogs import catalog
from toolcrib.index import SqliteEngine
from toolcrib.store import SqliteStore

# Made at import: the server that children are forked from imports this once.
GENERATIONS = {
    "old": catalog(2_000, seed=1, prefix="old-"),
    "new": catalog(1_900, seed=2, prefix="new-"),
}


def rebuild_for_ever(path: Path, started: Event) -> None:
    """Build the two generations in turn; say so when the first rebuild is about to begin."""
    engine = SqliteEngine(SqliteStore.open(path))
    first = "old" if engine.mark() == "new" else "new"
    rest = "new" if first == "old" else "old"
    started.set()
    for mark in cycle([first, rest]):
        engine.rebuild(GENERATIONS[mark], mark=mark)
