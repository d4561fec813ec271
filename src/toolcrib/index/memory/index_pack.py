"""The base of a memory index as a pack: its arrays are in the file as they are in memory.

Nothing but the header is read when it is opened: the pages of the file come as they are needed.
All sections only rank what the pool says there is, so a CRC is enough for them.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.memory.base import HASH_BYTES, IndexBase, equal_weights
from toolcrib.index.memory.packed_words import PackedWords
from toolcrib.index.memory.postings import PackedPostings
from toolcrib.index.memory.word_parts import WordGrams
from toolcrib.store import Pack, PackDamaged, write_pack

FORMAT = 2
"""Raise it when these arrays, or the terms that go into them, change their meaning."""
INDEX_FORMAT = f"index {FORMAT} {sys.byteorder}"
"""The kind of the pack."""


def write_index_pack(path: Path, base: IndexBase, mark: str, key: bytes) -> None:
    """Put the base in the place of the file in one step. Raises `OSError`."""
    header = {
        "mark": mark,
        "vector_size": base.vectors.shape[1],
        "small_weights": base.terms.weights.dtype == np.uint16,
    }
    write_pack(path, INDEX_FORMAT, header, {f"rank:{n}": a for n, a in _arrays(base).items()}, key)


def open_index_pack(path: Path, key: bytes) -> tuple[IndexBase, str]:
    """The base in a file, mapped, and its mark. Raises `OSError` and `PackDamaged`."""
    pack = Pack.open(path, INDEX_FORMAT, key)
    try:
        return _base(pack), str(pack.header["mark"])
    except (KeyError, ValueError, TypeError) as error:
        raise PackDamaged(f"{path} has not the arrays of an index: {error}") from error


def _arrays(base: IndexBase) -> Mapping[str, bytes | memoryview | NDArray[Any]]:
    return {
        **_words("ids", base.ids),
        "lengths": base.lengths,
        "text_hashes": np.ascontiguousarray(base.text_hashes),
        **_postings("terms", base.terms),
        "terms/weights": base.terms.weights,
        **_postings("spellings", base.spellings),
        **_postings("labels", base.labels),
        **_grams(base.labels.words.grams),
        "label_docs": base.label_docs,
        "label_lengths": base.label_lengths,
        "vectors": np.ascontiguousarray(base.vectors),
        "signs": np.ascontiguousarray(base.signs),
        "vectored": base.vectored,
    }


def _words(name: str, words: PackedWords) -> Mapping[str, bytes | memoryview | NDArray[Any]]:
    return {f"{name}/words": words.buffer, f"{name}/word_starts": words.starts}


def _grams(grams: WordGrams) -> Mapping[str, NDArray[Any]]:
    return {f"labels/parts/{name}": column for name, column in grams._asdict().items()}


def _postings(
    name: str, postings: PackedPostings
) -> Mapping[str, bytes | memoryview | NDArray[Any]]:
    return {
        **_words(name, postings.words),
        f"{name}/starts": postings.starts,
        f"{name}/rows": postings.rows,
    }


def _base(pack: Pack) -> IndexBase:
    size, small = pack.header["vector_size"], pack.header["small_weights"]
    if not isinstance(size, int):
        raise TypeError("the size of the vectors is no number")
    lengths = pack.array("rank:lengths", np.int32)
    count = len(lengths)
    base = IndexBase(
        ids=_packed_words(pack, "ids"),
        lengths=lengths,
        text_hashes=pack.array("rank:text_hashes", np.uint8).reshape(count, HASH_BYTES),
        terms=_packed_postings(
            pack, "terms", pack.array("rank:terms/weights", np.uint16 if small else np.float32)
        ),
        spellings=_packed_postings(pack, "spellings"),
        labels=_packed_postings(pack, "labels"),
        label_docs=pack.array("rank:label_docs", np.int32),
        label_lengths=pack.array("rank:label_lengths", np.int32),
        vectors=pack.array("rank:vectors", np.float16).reshape(count, size),
        vectored=pack.array("rank:vectored", np.bool_),
    )
    columns = (pack.array(f"rank:labels/parts/{name}", np.uint32) for name in WordGrams._fields)
    base.labels.words.__dict__["grams"] = WordGrams(*columns)
    base.__dict__["signs"] = pack.array("rank:signs", np.uint64).reshape(count, -1 if count else 0)
    return base


def _packed_words(pack: Pack, name: str) -> PackedWords:
    starts = pack.array(f"rank:{name}/word_starts", np.uint32)
    return PackedWords(pack.view(f"rank:{name}/words"), starts)


def _packed_postings(pack: Pack, name: str, weights: NDArray[Any] | None = None) -> PackedPostings:
    rows = pack.array(f"rank:{name}/rows", np.int32)
    return PackedPostings(
        _packed_words(pack, name),
        pack.array(f"rank:{name}/starts", np.int64),
        rows,
        equal_weights(len(rows)) if weights is None else weights,
    )
