"""The SQLite engine: the index in the catalog file, for any number of processes.

A search reads one `SqliteView`: one generation, in one transaction.
"""

import json
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import apsw
import numpy as np
from numpy.typing import NDArray

from toolcrib.index.bm25_formula import FieldWeights
from toolcrib.index.document import Document
from toolcrib.index.protocol import Arm, Index, Progress, Superseded
from toolcrib.index.sqlite import rows
from toolcrib.index.sqlite.bm25 import Bm25
from toolcrib.index.sqlite.like import Labels, Like, read_labels
from toolcrib.index.sqlite.lookup import storable
from toolcrib.index.sqlite.tables import FORMAT, Pointer, Tables, current_pointer, switch_pointer
from toolcrib.index.sqlite.vector import Vector
from toolcrib.store import SqliteStore
from toolcrib.text import CountedWords, Speller

_HASHES = "SELECT id, text_hash FROM doc_N WHERE id IN (SELECT value FROM json_each(?))"
_WITHOUT_VECTOR = "SELECT id FROM doc_N WHERE doc NOT IN (SELECT doc FROM vector_N) ORDER BY id"
_COUNTS = "SELECT term, doc FROM vocabulary_N"
_NAMED = "SELECT id FROM spelling_N JOIN doc_N USING (doc) WHERE spelling = ? ORDER BY id"


@dataclass(frozen=True, slots=True)
class SqliteView:
    """One generation, in one transaction: valid in the block and on the thread that opened it."""

    generation: int
    mark: str
    tables: Tables
    like: Like
    bm25: Bm25
    vector: Vector | None
    spell: Callable[[], Speller]

    @property
    def count(self) -> int:
        """How many documents there are."""
        return self.tables.run("SELECT count(*) FROM doc_N").get

    @property
    def vector_size(self) -> int:
        """As the protocol says."""
        return self.vector.size if self.vector else 0

    @property
    def arms(self) -> dict[Arm, Index]:
        """The arms in the order of the protocol."""
        arms: dict[Arm, Index] = {"like": self.like, "bm25": self.bm25}
        return arms if self.vector is None else {**arms, "vector": self.vector}

    def named(self, spelling: str) -> Sequence[str]:
        """The ids with this folded spelling, in order."""
        return [id for each in storable([spelling]) for id in self._ids(_NAMED, each)]

    def ids(self) -> Sequence[str]:
        """All ids, in order."""
        return self._ids("SELECT id FROM doc_N ORDER BY id")

    def speller(self) -> Speller:
        """As the protocol says."""
        return self.spell()

    def text_hashes(self, ids: Iterable[str]) -> Mapping[str, bytes]:
        """As the protocol says."""
        return dict(self.tables.run(_HASHES, (json.dumps(storable(ids)),)).fetchall())

    def without_vector(self) -> Sequence[str]:
        """As the protocol says."""
        return self._ids(_WITHOUT_VECTOR)

    def _ids(self, sql: str, *bindings: str) -> list[str]:
        return [id for (id,) in self.tables.run(sql, bindings)]


class SqliteEngine:
    """The generation that the pointer in the file names, whichever process wrote it.

    An index in the format of another version counts as empty and has no mark.
    """

    def __init__(self, store: SqliteStore, weights: FieldWeights | None = None) -> None:
        self._store = store
        self._weights = weights or FieldWeights()
        self._labels: dict[int, Labels] = {}
        self._spellers: dict[int, Speller] = {}
        with store.read() as db:
            usable = current_pointer(db).format == FORMAT
        if not usable:
            self._start()

    @contextmanager
    def view(self) -> Generator[SqliteView]:
        """The current generation, in one transaction. For one thread."""
        with self._store.read() as db:
            pointer = _usable(db)
            tables = Tables(db, pointer.tables)
            labels = partial(self._labels_of, pointer.generation, tables)
            yield SqliteView(
                generation=pointer.generation,
                mark=pointer.mark,
                tables=tables,
                like=Like(tables, labels),
                bm25=Bm25(tables, self._weights),
                vector=Vector.of(tables),
                spell=partial(self._speller_of, pointer.generation, tables),
            )

    def rebuild(
        self, documents: Iterable[Document], *, progress: Progress | None = None, mark: str = ""
    ) -> None:
        """Make the next generation beside the current one and switch, in one transaction.

        All documents are made before the transaction begins, so that it is short.
        """
        by_id = {document.id: document for document in documents}
        with self._store.write() as db:
            _replace(db, by_id.values(), progress, mark)

    def change(
        self,
        put: Iterable[Document] = (),
        remove: Iterable[str] = (),
        *,
        mark: str = "",
        base: str | None = None,
    ) -> None:
        """Change the rows of the current generation, in one transaction."""
        new = {document.id: document for document in put}
        with self._changing(mark, base) as tables:
            rows.remove(tables, [*new, *remove])
            rows.put(tables, new.values())

    def add_vectors(
        self,
        vectors: Mapping[str, NDArray[np.float32]],
        *,
        mark: str = "",
        base: str | None = None,
    ) -> None:
        """As the protocol says, in one transaction."""
        with self._changing(mark, base) as tables:
            rows.put_vectors(tables, vectors)

    @contextmanager
    def _changing(self, mark: str, base: str | None) -> Generator[Tables]:
        """The tables of the current generation; it is another one when they are changed."""
        with self._store.write() as db:
            pointer = _usable(db)
            if base not in (None, pointer.mark):
                raise Superseded
            yield Tables(db, pointer.tables)
            switch_pointer(db, pointer._replace(generation=pointer.generation + 1, mark=mark))

    def mark(self) -> str:
        """What the index was made from, by the last writer's word."""
        with self._store.read() as db:
            pointer = current_pointer(db)
            return pointer.mark if pointer.format == FORMAT else ""

    def _start(self) -> None:
        with self._store.write() as db:
            if current_pointer(db).format != FORMAT:  # nobody else started while we waited
                _replace(db, (), None, "")

    def _labels_of(self, generation: int, tables: Tables) -> Labels:
        if (labels := self._labels.get(generation)) is None:
            labels = read_labels(tables)
            self._labels = {generation: labels}
        return labels

    def _speller_of(self, generation: int, tables: Tables) -> Speller:
        if (speller := self._spellers.get(generation)) is None:
            speller = Speller(CountedWords(dict(tables.run(_COUNTS))))
            self._spellers = {generation: speller}
        return speller


def _replace(
    db: apsw.Connection, documents: Collection[Document], progress: Progress | None, mark: str
) -> None:
    pointer = current_pointer(db)
    following = pointer.generation + 1
    Tables(db, pointer.tables).drop()  # first, so that the new ones take their place on disk
    tables = Tables(db, following)
    tables.make()
    rows.put(tables, documents, progress)
    switch_pointer(db, Pointer(following, following, FORMAT, mark))


def _usable(db: apsw.Connection) -> Pointer:
    """The current pointer. Raises `Superseded` if another version of Toolcrib wrote it."""
    pointer = current_pointer(db)
    if pointer.format != FORMAT:
        raise Superseded
    return pointer
