"""What has changed since the base was made: rows of it that are gone, documents that were put."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.bm25_formula import FieldWeights
from toolcrib.index.document import Document
from toolcrib.index.memory.base import BaseBuilder, IndexBase, merge_drafts
from toolcrib.index.memory.postings import Rows
from toolcrib.index.memory.segment import Segment, SegmentRow

KEY_SEPARATOR = "\n"
FEWEST, SHARE = 1024, 20
"""An overlay is large from so many rows on, if it is one in so many of the base."""

NO_ROWS: Rows = np.zeros(0, np.int32)
_EMPTY = Segment.of([])


@dataclass(frozen=True)
class Overlay:
    """`gone` are rows of the base, ascending. A document that was changed is gone, and put.

    The keys of `terms` are ids; those of `labels` an id, a separator and the label's number.
    """

    gone: Rows = field(default_factory=NO_ROWS.copy)
    documents: Mapping[str, Document] = field(default_factory=dict[str, Document])
    terms: Segment = _EMPTY
    labels: Segment = _EMPTY
    spellings: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    def __len__(self) -> int:
        return len(self.gone) + len(self.documents)

    def is_large(self, base: IndexBase) -> bool:
        """Whether it is time to make a base of both."""
        return len(self) > max(FEWEST, len(base) // SHARE)

    def changed(
        self,
        base: IndexBase,
        put: Mapping[str, Document],
        removed: Collection[str],
        weights: FieldWeights,
    ) -> "Overlay":
        """The overlay with some documents put and others removed. They share what is the same."""
        return self.looked_up(self.to_fold(base, put, removed), put, removed, weights)

    def looked_up(
        self,
        after: "Overlay",
        put: Mapping[str, Document],
        removed: Collection[str],
        weights: FieldWeights,
    ) -> "Overlay":
        """The same, of what `to_fold` made of it."""
        leaving = [self.documents[id] for id in [*put, *removed] if id in self.documents]
        return replace(
            after,
            terms=self.terms.changed(
                [term_row(each, weights) for each in leaving],
                [term_row(each, weights) for each in put.values()],
            ),
            labels=self.labels.changed(
                [row for each in leaving for row in label_rows(each)],
                [row for each in put.values() for row in label_rows(each)],
            ),
            spellings=_respelt(self.spellings, leaving, put.values()),
        )

    def to_fold(
        self, base: IndexBase, put: Mapping[str, Document], removed: Collection[str]
    ) -> "Overlay":
        """The same, but that nothing is looked up in it: of very many a base is made at once."""
        left = {id: each for id, each in self.documents.items() if id not in removed}
        newly_gone = base.rows_of([*put, *removed])
        gone = np.union1d(self.gone, newly_gone).astype(np.int32) if newly_gone.size else self.gone
        return Overlay(gone, {**left, **put})

    def since(
        self, earlier: "Overlay", base: IndexBase
    ) -> tuple[Mapping[str, Document], Collection[str]]:
        """What was put and what was removed since an earlier overlay of the same base."""
        before = earlier.documents
        put = {id: each for id, each in self.documents.items() if before.get(id) is not each}
        newly_gone = np.setdiff1d(self.gone, earlier.gone).tolist()
        removed = {*before, *map(base.ids.__getitem__, newly_gone)} - self.documents.keys()
        return put, removed

    def folded(self, base: IndexBase, weights: FieldWeights) -> IndexBase:
        """A base of what this leaves of another and of what it has put."""
        if not len(self):
            return base
        builder = BaseBuilder(weights)
        for document in self.documents.values():
            builder.add(document)
        new = builder.built()
        left = np.ones(len(base), np.bool_)
        left[self.gone] = False
        return merge_drafts((base.draft(), left), (new.draft(), np.ones(len(new), np.bool_)))

    @cached_property
    def vectors(self) -> NDArray[np.float16]:
        """A row for each key of `terms`; zeros where there is no vector. Raises `ValueError`."""
        vectors = {
            self.terms.row_of[id]: each.vector
            for id, each in self.documents.items()
            if each.vector is not None
        }
        sizes = {vector.size for vector in vectors.values()}
        if len(sizes) > 1:
            raise ValueError(f"vectors of {sorted(sizes)} numbers in one index; use one size")
        made = np.zeros((len(self.terms.keys), *(sizes or {0})), np.float16)
        for row, vector in vectors.items():
            made[row] = vector
        return made


def term_row(document: Document, weights: FieldWeights) -> SegmentRow:
    """The row of a document; its length is the number of its terms."""
    return SegmentRow(document.id, weights.frequencies(document), sum(map(len, document.fields)))


def label_rows(document: Document) -> Iterator[SegmentRow]:
    """The rows of a document's labels; the length of one is in characters."""
    for number, label in enumerate(document.labels):
        key = f"{document.id}{KEY_SEPARATOR}{number}"
        yield SegmentRow(key, dict.fromkeys(label, 1.0), sum(map(len, label)))


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
