"""The catalog file: SQLite by way of apsw, which brings a current one and loads extensions.

What it holds (the index, cached vectors, reveals) can be made again, or grows again with use, so a
damaged file is set aside and a fresh one takes its place. What must not be lost does not belong in
it. `catalog_condition` looks at the file from outside: nothing is made or changed by it.
"""

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Literal, NamedTuple, Self

import apsw
import numpy as np
from numpy.typing import NDArray

from toolcrib.errors import StoreError
from toolcrib.model import ConversationTokens
from toolcrib.store import embeddings, reveals, uses
from toolcrib.store.connections import (
    CATALOG_APPLICATION,
    CATALOG_MIGRATIONS,
    Connections,
    FileConnections,
    MemoryConnection,
)
from toolcrib.store.database import DAMAGE, FAULTS, explain_fault, make_private, set_aside
from toolcrib.store.uses import UseRecord

OLDEST_SQLITE = (3, 51, 3)  # before it, a write-ahead log that is reset may lose pages


class SqliteStore:
    """One catalog, for all threads of a process and any number of processes.

    Use `open`. Each `read` or `write` block is one transaction in one thread; see `connections`.
    Every failure of the file is a `StoreError` that names the cause and the remedy.
    """

    def __init__(self, path: Path | Literal[":memory:"], connections: Connections) -> None:
        self._path = path
        self._connections = connections
        self._abandoning = Lock()

    @classmethod
    def open(cls, path: Path | Literal[":memory:"]) -> Self:
        """The catalog at a path, made and brought up to date as needed.

        A new file is for its owner's eyes only, and so is every folder made for it. A file that
        is no database is set aside; one of a newer Toolcrib or another program is refused.
        ":memory:" is a catalog that is gone when it closes, in which readers wait for writers.
        """
        if isinstance(path, str):
            return cls(path, MemoryConnection())
        try:
            return cls(path, _opened(path))
        except (*FAULTS, OSError) as error:
            raise StoreError(explain_fault(path, error)) from error

    @contextmanager
    def read(self) -> Generator[apsw.Connection]:
        """One state of the catalog, from the first look to the end of the block."""
        with self._explained(), self._connections.read() as db:
            yield db

    @contextmanager
    def write(self) -> Generator[apsw.Connection]:
        """All that the block writes, at once when it ends; nothing when it raises."""
        with self._explained(), self._connections.write() as db:
            yield db

    def cached_vectors(
        self, model: str, hashes: Sequence[bytes]
    ) -> dict[bytes, NDArray[np.float32]]:
        """As the protocol says. The vectors cannot be written to."""
        with self.read() as db:
            return embeddings.cached(db, model, hashes)

    def keep_vectors(self, model: str, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """As the protocol says."""
        with self.write() as db:
            embeddings.keep(db, model, vectors)

    def present_vectors(self, model: str, hashes: Sequence[bytes]) -> set[bytes]:
        """As the protocol says."""
        with self.read() as db:
            return embeddings.present(db, model, hashes)

    def bound_vectors(self, most_bytes: int, *, share: float) -> None:
        """Forget this share of the vectors, the oldest, if the file has more bytes than that."""
        with self.read() as db:
            full = embeddings.size(db) > most_bytes
        if full:
            with self.write() as db:
                embeddings.forget_oldest(db, share)

    def used(self) -> UseRecord:
        """As the protocol says."""
        with self.read() as db:
            return uses.read(db)

    def keep_used(self, more: UseRecord, *, half_life_days: float) -> None:
        """As the protocol says."""
        with self.write() as db:
            uses.add(db, more, half_life_days)

    def forget_used(self, tool: str = "") -> int:
        """As the protocol says."""
        with self.write() as db:
            return uses.forget(db, tool)

    def reveals(self, caller: str, session: str) -> tuple[str, ...]:
        """As the protocol says."""
        with self.read() as db:
            row = reveals.read(db, caller, session)
        if not row.is_fresh:
            with self.write() as db:
                now = reveals.read(db, caller, session)
                reveals.write(db, caller, session, now.names, now.tokens)
        return row.names

    def add_reveals(self, caller: str, session: str, names: Sequence[str]) -> tuple[str, ...]:
        """As the protocol says."""
        with self.write() as db:
            before, _, tokens = reveals.read(db, caller, session)
            new = tuple(name for name in dict.fromkeys(names) if name not in before)
            reveals.write(db, caller, session, (*before, *new), tokens)
        return new

    def keep_reveals(self, caller: str, session: str, names: Collection[str]) -> None:
        """As the protocol says."""
        with self.write() as db:
            before, _, tokens = reveals.read(db, caller, session)
            self._keep(db, caller, session, [name for name in before if name in names], tokens)

    def conversation_tokens(self, caller: str, session: str) -> ConversationTokens:
        """As the protocol says."""
        with self.read() as db:
            return reveals.read(db, caller, session).tokens

    def set_conversation_tokens(
        self, caller: str, session: str, tokens: ConversationTokens
    ) -> None:
        """As the protocol says."""
        with self.write() as db:
            names = reveals.read(db, caller, session).names
            self._keep(db, caller, session, names, tokens)

    def _keep(
        self,
        db: apsw.Connection,
        caller: str,
        session: str,
        names: Sequence[str],
        tokens: ConversationTokens,
    ) -> None:
        """What has nothing left takes no place."""
        if names or tokens != ConversationTokens():
            reveals.write(db, caller, session, names, tokens)
        else:
            reveals.forget(db, caller, session)

    def close(self) -> None:
        """As the protocol says. A file without other users is then one file, without a WAL."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except DAMAGE as error:
            self._abandon()
            raise StoreError(f"{self._path} is damaged; open it again to start afresh") from error
        except FAULTS as error:
            raise StoreError(explain_fault(self._path, error)) from error

    def _abandon(self) -> None:
        """Once: a file that is at the path later is not the one that was found damaged."""
        if self._abandoning.acquire(blocking=False) and isinstance(self._path, Path):
            set_aside(self._path)
            self._connections.close()


def _opened(path: Path) -> FileConnections:
    make_private(path)
    try:
        return FileConnections(path)
    except DAMAGE:
        set_aside(path)
    make_private(path)
    return FileConnections(path)


class CatalogCondition(NamedTuple):
    """The version of the file, the newest that is known here, and what is broken, if anything."""

    version: int
    newest: int
    damage: str = ""


def catalog_condition(path: Path) -> CatalogCondition:
    """How the file is. Raises `StoreError` if it cannot be read or is not ours."""
    newest = len(CATALOG_MIGRATIONS)
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            version = int(db.pragma("user_version"))
            ours = db.pragma("application_id") == CATALOG_APPLICATION
            report = str(db.execute("PRAGMA quick_check(1)").get)
        finally:
            db.close()
    except DAMAGE as error:
        return CatalogCondition(0, newest, str(error))
    except FAULTS as error:
        raise StoreError(explain_fault(path, error)) from error
    if version and not ours:
        raise StoreError(f"{path} is another program's database; name another file")
    if version > newest:
        raise StoreError(f"{path} was written by a newer Toolcrib; upgrade toolcrib")
    return CatalogCondition(version, newest, "" if report == "ok" else report)


class SqliteVersion(NamedTuple):
    """The version of SQLite, and whether several processes may write with it."""

    number: str
    is_reliable: bool


def sqlite_version() -> SqliteVersion:
    """The version in use here."""
    number = apsw.sqlite_lib_version()
    return SqliteVersion(number, tuple(map(int, number.split("."))) >= OLDEST_SQLITE)
