"""The base of a memory index: all documents of one moment in arrays, in memory or in a file.

Rows are in the order of ids, so that an id is found by halving and ties go by row. It is never
changed: what came since is laid over it, see `overlay`.

    documents → BaseBuilder → BaseDraft ─┐
    an older base, less what is gone ────┴→ merge_drafts → IndexBase
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed import text_hash
from toolcrib.index.bm25_formula import FieldWeights
from toolcrib.index.document import Document
from toolcrib.index.memory.label_words import RecentWords, StoredMeaning
from toolcrib.index.memory.packed_words import PackedWords
from toolcrib.index.memory.postings import PackedPostings, Rows, WordRows
from toolcrib.index.memory.ranking import ScoreBoard

HASH_BYTES = 32

Kind = TypeVar("Kind", bound=np.generic)


class BaseDraft(NamedTuple):
    """What a base is made of; rows are in any order, and some may be left out.

    `label_docs` has the row of each label's document. A row without a vector has zeros, and
    without any there are none; `vectored` tells which have one.
    """

    ids: Sequence[str]
    lengths: NDArray[np.int32]
    text_hashes: NDArray[np.uint8]
    terms: WordRows
    spellings: WordRows
    labels: WordRows
    label_docs: Rows
    label_lengths: NDArray[np.int32]
    vectors: NDArray[np.float16]
    vectored: NDArray[np.bool_]


@dataclass(frozen=True)
class IndexBase:
    """The arrays; as those of a draft, in order of id and with postings."""

    ids: PackedWords
    lengths: NDArray[np.int32]
    text_hashes: NDArray[np.uint8]
    terms: PackedPostings
    spellings: PackedPostings
    labels: PackedPostings
    label_docs: Rows
    label_lengths: NDArray[np.int32]
    vectors: NDArray[np.float16]
    vectored: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def all_terms(self) -> int:
        """How many terms all documents have together."""
        return int(self.lengths.sum(dtype=np.int64))

    @cached_property
    def longest_label(self) -> int:
        """How many characters the longest label has."""
        return int(self.label_lengths.max(initial=0))

    @cached_property
    def label_meanings(self) -> RecentWords[StoredMeaning]:
        """What words stand for in the labels, as far as somebody has asked."""
        return RecentWords(len(self.label_docs))

    @cached_property
    def label_roots(self) -> NDArray[np.float64]:
        """The root of each label's length."""
        return label_roots(self.label_lengths)

    @cached_property
    def scores(self) -> ScoreBoard:
        """Room for the scores of documents, of whatever lies over this base too."""
        return ScoreBoard()

    @cached_property
    def label_scores(self) -> ScoreBoard:
        """The same for those of labels."""
        return ScoreBoard()

    @cached_property
    def matrix(self) -> NDArray[np.float32]:
        """The vectors in the numbers that products are made of: four times as quick."""
        return self.vectors.astype(np.float32)

    @cached_property
    def signs(self) -> NDArray[np.uint64]:
        """A bit for each number of each vector: whether it is above zero."""
        return sign_bits(self.vectors)

    def rows_of(self, ids: Iterable[str]) -> Rows:
        """The rows of those ids that are here, ascending."""
        rows = (self.ids.number(id) for id in ids)
        return np.array(sorted(row for row in rows if row >= 0), np.int32)

    def draft(self) -> BaseDraft:
        """What a new base takes over from this one."""
        return BaseDraft(
            ids=self.ids,
            lengths=self.lengths,
            text_hashes=self.text_hashes,
            terms=self.terms.pairs(),
            spellings=self.spellings.pairs(),
            labels=self.labels.pairs(),
            label_docs=self.label_docs,
            label_lengths=self.label_lengths,
            vectors=self.vectors,
            vectored=self.vectored,
        )

    def with_vectors(self, rows: Rows, vectors: NDArray[np.float16]) -> "IndexBase":
        """The same base, with vectors for some of its rows. Raises `ValueError` for two sizes."""
        shape = (len(self), vectors.shape[1])
        some = self.vectored.any()
        made = np.array(self.vectors) if some else np.zeros(shape, np.float16)
        made[rows] = vectors
        vectored = np.array(self.vectored)
        vectored[rows] = True
        return replace(self, vectors=made, vectored=vectored)


class BaseBuilder:
    """Takes documents one by one and keeps what their arrays are made of, and not them."""

    def __init__(self, weights: FieldWeights) -> None:
        self._weights = weights
        self._row_of: dict[str, int] = {}
        self._lengths = array("i")
        self._hashes = bytearray()
        self._terms, self._spellings, self._labels = _Pairs(), _Pairs(), _Pairs()
        self._label_docs, self._label_lengths = array("i"), array("i")
        self._vectors: dict[int, NDArray[np.float16]] = {}

    def add(self, document: Document) -> None:
        """Of two with the same id the later counts."""
        row = len(self._lengths)
        self._row_of[document.id] = row
        self._lengths.append(sum(map(len, document.fields)))
        self._hashes += text_hash(document.text)
        self._terms.add(self._weights.frequencies(document))
        self._spellings.add(dict.fromkeys(document.names, 1.0))
        for label in document.labels:
            self._labels.add(dict.fromkeys(label, 1.0))
            self._label_docs.append(row)
            self._label_lengths.append(sum(map(len, label)))
        if document.vector is not None:
            self._vectors[row] = document.vector.astype(np.float16)

    def built(self) -> IndexBase:
        """The base of all that was added. Raises `ValueError` for vectors of two sizes."""
        draft = self._draft()
        left = np.zeros(len(draft.lengths), np.bool_)
        left[list(self._row_of.values())] = True
        return merge_drafts((draft, left))

    def _draft(self) -> BaseDraft:
        ids = {row: id for id, row in self._row_of.items()}
        count = len(self._lengths)
        vectored = np.zeros(count, np.bool_)
        vectored[list(self._vectors)] = True
        return BaseDraft(
            ids=[ids.get(row, "") for row in range(count)],
            lengths=_ints(self._lengths),
            text_hashes=np.array(self._hashes, np.uint8).reshape(count, HASH_BYTES),
            terms=self._terms.made(),
            spellings=self._spellings.made(),
            labels=self._labels.made(),
            label_docs=_ints(self._label_docs),
            label_lengths=_ints(self._label_lengths),
            vectors=_matrix(self._vectors, count),
            vectored=vectored,
        )


class _Pairs:
    """Words and rows as they come: the rows in order, each with all of its words at once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._words, self._counts, self._weights = array("i"), array("i"), array("f")

    def add(self, words: Mapping[str, float]) -> None:
        """The next row has these words with these weights."""
        number = self._numbers.setdefault
        self._words.extend([number(word, len(self._numbers)) for word in words])
        self._weights.extend(words.values())
        self._counts.append(len(words))

    def made(self) -> WordRows:
        """All that was added."""
        rows = np.repeat(np.arange(len(self._counts), dtype=np.int32), _ints(self._counts))
        weights = np.array(self._weights, np.float32)
        return WordRows(list(self._numbers), _ints(self._words), rows, weights)


def merge_drafts(*some: tuple[BaseDraft, NDArray[np.bool_]]) -> IndexBase:
    """A base of the rows that are marked in each draft; no id may be marked twice.

    Raises `ValueError` for vectors of two sizes.
    """
    drafts = [draft for draft, _ in some]
    kept = [np.flatnonzero(left) for _, left in some]
    ids = [
        draft.ids[row] for draft, rows in zip(drafts, kept, strict=True) for row in rows.tolist()
    ]
    by_id = sorted(range(len(ids)), key=ids.__getitem__)
    places = _placed(drafts, kept, by_id)
    label_places, labels = _label_order(drafts, places)
    return IndexBase(
        ids=PackedWords.of(map(ids.__getitem__, by_id)),
        lengths=_scattered([draft.lengths for draft in drafts], places),
        text_hashes=_scattered([draft.text_hashes for draft in drafts], places),
        terms=PackedPostings.of(*_moved([draft.terms for draft in drafts], places)),
        spellings=_plain(PackedPostings.of(*_moved([d.spellings for d in drafts], places))),
        labels=_plain(PackedPostings.of(*_moved([d.labels for d in drafts], label_places))),
        label_docs=labels,
        label_lengths=_scattered([draft.label_lengths for draft in drafts], label_places),
        vectors=_scattered(_of_one_size(drafts), places),
        vectored=_scattered([draft.vectored for draft in drafts], places),
    )


def label_roots(lengths: NDArray[np.int32]) -> NDArray[np.float64]:
    """The root of each length; of an empty label, that of one character."""
    return np.sqrt(np.maximum(lengths, 1))


def sign_bits(vectors: NDArray[np.float16] | NDArray[np.float32]) -> NDArray[np.uint64]:
    """A bit for each number: whether it is above zero. Whole words of 64, the rest zeros."""
    bits = np.packbits(vectors > 0, axis=1)
    padded = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))
    return padded.view(np.uint64)


def _placed(
    drafts: Sequence[BaseDraft], kept: Sequence[NDArray[np.intp]], by_id: Sequence[int]
) -> list[Rows]:
    """For each draft the new row of each of its rows; -1 for one that is left out."""
    places = np.empty(len(by_id), np.int32)
    places[by_id] = np.arange(len(by_id), dtype=np.int32)
    result: list[Rows] = []
    for draft, rows in zip(drafts, kept, strict=True):
        new = np.full(len(draft.lengths), -1, np.int32)
        new[rows], places = places[: len(rows)], places[len(rows) :]
        result.append(new)
    return result


def _label_order(drafts: Sequence[BaseDraft], places: Sequence[Rows]) -> tuple[list[Rows], Rows]:
    """For each draft the new row of each of its labels, and the document of each new one."""
    docs = [place[draft.label_docs] for draft, place in zip(drafts, places, strict=True)]
    every = np.concatenate(docs)
    order = np.argsort(every, kind="stable")
    order = order[every[order] >= 0]
    new = np.full(len(every), -1, np.int32)
    new[order] = np.arange(len(order), dtype=np.int32)
    ends = np.cumsum([len(each) for each in docs])[:-1]
    return np.split(new, ends), every[order]


def _moved(some: Sequence[WordRows], places: Sequence[Rows]) -> list[WordRows]:
    """The pairs with their new rows."""
    moved: list[WordRows] = []
    for each, place in zip(some, places, strict=True):
        rows = place[each.rows]
        left = rows >= 0
        moved.append(WordRows(each.spelt, each.words[left], rows[left], each.weights[left]))
    return moved


def _scattered(some: Sequence[NDArray[Kind]], places: Sequence[Rows]) -> NDArray[Kind]:
    """One array of all rows that are left, each in its new place."""
    count = sum(int(np.count_nonzero(place >= 0)) for place in places)
    made = np.zeros((count, *some[0].shape[1:]), some[0].dtype)
    for each, place in zip(some, places, strict=True):
        left = place >= 0
        made[place[left]] = each[left]
    return made


def _plain(postings: PackedPostings) -> PackedPostings:
    """The postings of words that all have the same weight: it takes no room."""
    return replace(postings, weights=equal_weights(len(postings.rows)))


def equal_weights(count: int) -> NDArray[np.uint16]:
    """So many ones, in the room of one."""
    return np.broadcast_to(np.uint16(1), count)


def _of_one_size(drafts: Sequence[BaseDraft]) -> list[NDArray[np.float16]]:
    sizes = {draft.vectors.shape[1] for draft in drafts if draft.vectored.any()}
    if len(sizes) > 1:
        raise ValueError(f"vectors of {sorted(sizes)} numbers in one index; rebuild it with one")
    [size] = sizes or {0}
    blank = [np.zeros((len(draft.lengths), size), np.float16) for draft in drafts]
    return [d.vectors if d.vectored.any() else b for d, b in zip(drafts, blank, strict=True)]


def _matrix(vectors: Mapping[int, NDArray[np.float16]], count: int) -> NDArray[np.float16]:
    sizes = {vector.size for vector in vectors.values()}
    if len(sizes) > 1:
        raise ValueError(f"vectors of {sorted(sizes)} numbers in one index; rebuild it with one")
    made = np.zeros((count, *(sizes or {0})), np.float16)
    for row, vector in vectors.items():
        made[row] = vector
    return made


def _ints(numbers: "array[int]") -> NDArray[np.int32]:
    return np.frombuffer(numbers, np.int32) if numbers else np.zeros(0, np.int32)
