"""The engines that keep the contracts of `toolcrib.store`: one line each, in `ENGINES`."""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from tests.postgres import PostgresEngine
from toolcrib.store import DocumentName, FileStores, Retention, StorePlaces, Stores

RETENTION = Retention(rows=1_000, days=30.0, query_days=7.0)
DOCUMENTS: tuple[DocumentName, ...] = ("servers.json", "rules.json", "settings.toml")


class Engine(Protocol):
    """A place on which stores are opened, any number of times."""

    def open(self) -> Stores:
        """One more opening, as another process has it, or the same after a restart."""
        ...

    def pass_time(self, seconds: float) -> None:
        """Let time pass by the clock that what expires goes by."""
        ...


class FileEngine:
    """Files in a folder, or in memory: then no two openings share a ticket, a set or a result."""

    def __init__(self, folder: Path, *, memory: bool = False) -> None:
        state, catalog = folder / "state", None if memory else folder / "data" / "catalog.db"
        documents: dict[DocumentName, Path] = {name: folder / name for name in DOCUMENTS}
        self._places = StorePlaces(state, catalog, RETENTION, documents)
        self._passed = 0.0
        self._opened: list[FileStores] = []

    def open(self) -> Stores:
        stores = FileStores(self._places, lambda: time.time() + self._passed)
        self._opened.append(stores)
        return stores

    def pass_time(self, seconds: float) -> None:
        self._passed += seconds

    def close(self) -> None:
        for stores in self._opened:
            stores.close()


@contextmanager
def files(folder: Path) -> Generator[Engine]:
    engine = FileEngine(folder)
    yield engine
    engine.close()


@contextmanager
def memory(folder: Path) -> Generator[Engine]:
    engine = FileEngine(folder, memory=True)
    yield engine
    engine.close()


@contextmanager
def postgresql(folder: Path) -> Generator[Engine]:
    engine = PostgresEngine(folder, RETENTION)
    yield engine
    engine.close()


ENGINES: Mapping[str, Callable[[Path], AbstractContextManager[Engine]]] = {
    "files": files,
    "postgresql": postgresql,
}
"""Those on which two openings share all there is."""


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Engine]:
    with ENGINES[request.param](tmp_path) as made:
        yield made


@pytest.fixture(params=[*ENGINES, "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Engine]:
    """The same, and what forgets everything when it is closed."""
    with {**ENGINES, "memory": memory}[request.param](tmp_path) as made:
        yield made


@pytest.fixture
def stores(place: Engine) -> Stores:
    """The stores of one process."""
    return place.open()
