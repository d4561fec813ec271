"""The memory engine: unchanging snapshots, swapped by one assignment."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

from toolcrib.index.bm25_formula import FieldWeights
from toolcrib.index.document import Document
from toolcrib.index.memory import bm25, like
from toolcrib.index.memory.bm25 import Bm25
from toolcrib.index.memory.inverted_index import Segment
from toolcrib.index.memory.like import Like
from toolcrib.index.memory.vector import Vector
from toolcrib.index.protocol import Arm, Index, Progress, Superseded
from toolcrib.text import Speller


@dataclass(frozen=True)
class Snapshot:
    """One generation: the documents and the arms over them."""

    generation: int
    mark: str
    documents: Mapping[str, Document]
    spellings: Mapping[str, Sequence[str]]
    like: Like
    bm25: Bm25
    vector: Vector | None

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
        return self.spellings.get(spelling, ())

    def ids(self) -> Sequence[str]:
        """All ids, in order."""
        return self._ids

    def speller(self) -> Speller:
        """As the protocol says."""
        return self._speller

    @cached_property
    def _ids(self) -> Sequence[str]:
        return sorted(self.documents)

    @cached_property
    def _speller(self) -> Speller:
        postings = self.bm25.segment.postings.items()
        return Speller({term: len(posting.rows) for term, posting in postings})


class MemoryEngine:
    """Keeps one snapshot. Writers take turns; readers never wait."""

    def __init__(self, weights: FieldWeights | None = None) -> None:
        self._weights = weights or FieldWeights()
        self._writing = Lock()
        self._snapshot = self._built({}, 0, "")

    @contextmanager
    def view(self) -> Generator[Snapshot]:
        """The current snapshot. It never changes."""
        yield self._snapshot

    def rebuild(
        self, documents: Iterable[Document], *, progress: Progress | None = None, mark: str = ""
    ) -> None:
        """Build the next generation beside the current one, then switch."""
        with self._writing:
            by_id: dict[str, Document] = {}
            for done, document in enumerate(documents, 1):
                by_id[document.id] = document
                if progress:
                    progress(done)
            self._snapshot = self._built(by_id, self._snapshot.generation + 1, mark)

    def change(
        self,
        put: Iterable[Document] = (),
        remove: Iterable[str] = (),
        *,
        mark: str = "",
        base: str | None = None,
    ) -> None:
        """Make the next generation from the current one; they share what did not change."""
        with self._writing:
            if base not in (None, self._snapshot.mark):
                raise Superseded
            new = {document.id: document for document in put}
            self._snapshot = self._changed(self._snapshot, new, set(remove) - new.keys(), mark)

    def mark(self) -> str:
        """What the index was made from, by the last writer's word."""
        return self._snapshot.mark

    def _built(self, documents: Mapping[str, Document], generation: int, mark: str) -> Snapshot:
        every = documents.values()
        return Snapshot(
            generation=generation,
            mark=mark,
            documents=documents,
            spellings=_spellings(every),
            like=Like(Segment.of([row for each in every for row in like.rows(each)])),
            bm25=bm25.bm25_arm(every, self._weights),
            vector=_vector(documents),
        )

    def _changed(
        self, old: Snapshot, new: Mapping[str, Document], removed: set[str], mark: str
    ) -> Snapshot:
        gone = [old.documents[id] for id in [*new, *removed] if id in old.documents]
        left = {id: each for id, each in old.documents.items() if id not in removed}
        documents = {**left, **new}
        return Snapshot(
            generation=old.generation + 1,
            mark=mark,
            documents=documents,
            spellings=_respelt(old.spellings, gone, new.values()),
            like=Like(
                old.like.segment.changed(
                    [row for each in gone for row in like.rows(each)],
                    [row for each in new.values() for row in like.rows(each)],
                ),
            ),
            bm25=Bm25(
                old.bm25.segment.changed(
                    [bm25.row(each, self._weights) for each in gone],
                    [bm25.row(each, self._weights) for each in new.values()],
                ),
            ),
            vector=_vector(documents),
        )


def _vector(documents: Mapping[str, Document]) -> Vector | None:
    vectors = {id: each.vector for id, each in documents.items() if each.vector is not None}
    return Vector.of(vectors) if vectors else None


def _spellings(documents: Iterable[Document]) -> dict[str, Sequence[str]]:
    return _respelt({}, (), documents)


def _respelt(
    old: Mapping[str, Sequence[str]], gone: Iterable[Document], new: Iterable[Document]
) -> dict[str, Sequence[str]]:
    spellings = dict(old)
    for each in gone:
        for spelling in each.names:
            spellings[spelling] = [id for id in spellings[spelling] if id != each.id]
    for each in new:
        for spelling in each.names:
            spellings[spelling] = sorted([*spellings.get(spelling, ()), each.id])
    return spellings
