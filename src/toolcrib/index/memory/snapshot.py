"""One generation of the memory index: a base, what was laid over it, and the arms over both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from toolcrib.embed import text_hash
from toolcrib.index.memory.base import IndexBase
from toolcrib.index.memory.bm25 import Bm25
from toolcrib.index.memory.like import Like
from toolcrib.index.memory.overlay import Overlay
from toolcrib.index.memory.postings import OverlaidPostings
from toolcrib.index.memory.rows import Masks, SnapshotRows
from toolcrib.index.memory.vector import Vector
from toolcrib.index.protocol import Arm, Index
from toolcrib.text import Speller


@dataclass(frozen=True)
class Snapshot:
    """Never changes. `masks` are those of filters over the base; snapshots over it share them."""

    generation: int
    mark: str
    base: IndexBase
    overlay: Overlay
    masks: Masks

    @property
    def count(self) -> int:
        """How many documents there are."""
        return self.rows.documents

    @property
    def vector_size(self) -> int:
        """As the protocol says."""
        return self._vector.size if self._vector.is_there else 0

    @property
    def arms(self) -> dict[Arm, Index]:
        """The arms in the order of the protocol."""
        arms: dict[Arm, Index] = {"like": self._like, "bm25": self._bm25}
        return {**arms, "vector": self._vector} if self._vector.is_there else arms

    def named(self, spelling: str) -> Sequence[str]:
        """The ids with this folded spelling, in order."""
        number = self.base.spellings.words.number(spelling)
        rows: list[int] = self.base.spellings[number].rows.tolist() if number >= 0 else []
        stored = [self.base.ids[row] for row in rows if not self.rows.is_gone[row]]
        return sorted([*stored, *self.overlay.spellings.get(spelling, ())])

    def ids(self) -> Sequence[str]:
        """All ids, in order."""
        return self.rows.ids()

    def speller(self) -> Speller:
        """As the protocol says."""
        return self._speller

    def text_hashes(self, ids: Iterable[str]) -> Mapping[str, bytes]:
        """As the protocol says."""
        rows = {id: self.rows.row_of(id) for id in ids}
        return {id: self._text_hash(id, row) for id, row in rows.items() if row >= 0}

    def without_vector(self) -> Sequence[str]:
        """As the protocol says."""
        rows = (~self.base.vectored & ~self.rows.is_gone).nonzero()[0]
        new = [id for id, each in self.overlay.documents.items() if each.vector is None]
        return sorted([*map(self.base.ids.__getitem__, rows.tolist()), *new])

    @cached_property
    def rows(self) -> SnapshotRows:
        """The rows that the arms share."""
        return SnapshotRows(self.base, self.overlay, self.masks)

    def _text_hash(self, id: str, row: int) -> bytes:
        if row < len(self.base):
            return self.base.text_hashes[row].tobytes()
        return text_hash(self.overlay.documents[id].text)

    @cached_property
    def _like(self) -> Like:
        return Like(self.rows)

    @cached_property
    def _bm25(self) -> Bm25:
        return Bm25(self.rows)

    @cached_property
    def _vector(self) -> Vector:
        return Vector(self.rows)

    @cached_property
    def _speller(self) -> Speller:
        return Speller(TermCounts(self._bm25.terms))


@dataclass(frozen=True)
class TermCounts:
    """What a speller asks of the terms: how many documents have each."""

    terms: OverlaidPostings

    def count(self, word: str) -> int:
        """0 if no document has the word."""
        return self.terms.count(word)

    def beginning(self, letter: str) -> Sequence[str]:
        """The words that begin with a letter of ASCII, in order."""
        packed = self.terms.packed.words
        numbers = packed.beginning(letter)
        lost = self.terms.lost(numbers)
        stored = [word for word in map(packed.__getitem__, numbers) if word not in lost]
        added = [word for word in self.terms.added if word.startswith(letter)]
        return sorted({*stored, *added}) if added else stored

    def most(self) -> int:
        """Of how many documents the word is that most have."""
        return self.terms.most()
