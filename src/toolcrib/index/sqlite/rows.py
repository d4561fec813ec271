"""Documents into the tables, and out again."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed import text_hash
from toolcrib.index.document import Document
from toolcrib.index.protocol import Progress
from toolcrib.index.sqlite.tables import Tables
from toolcrib.store import vector_bytes

_PUT_TERMS = "INSERT INTO bm25_N (rowid, name, label, description, detail) VALUES (?, ?, ?, ?, ?)"
_NUMBERED = "SELECT doc FROM doc_N WHERE id IN (SELECT value FROM json_each(?))"


_PUT_VECTOR = "INSERT OR REPLACE INTO vector_N SELECT doc, ? FROM doc_N WHERE id = ?"


class _LabelWord(NamedTuple):
    word: str
    length: int
    doc: int
    number: int


def put(tables: Tables, documents: Collection[Document], progress: Progress | None = None) -> None:
    """Insert documents with new ids. Raises `ValueError` for vectors of two sizes."""
    _refuse_two_sizes(tables, [each.vector for each in documents if each.vector is not None])
    first = tables.run("SELECT ifnull(max(doc), 0) + 1 FROM doc_N").get
    for done, document in enumerate(documents):
        _put(tables, first + done, document)
        if progress:
            progress(done + 1)


def remove(tables: Tables, ids: Iterable[str]) -> None:
    """Delete the documents with these ids, as far as they are there."""
    docs = tables.run(_NUMBERED, (json.dumps(list(ids)),)).fetchall()
    tables.run_each("DELETE FROM bm25_N WHERE rowid = ?", docs)
    tables.run_each("DELETE FROM spelling_N WHERE doc = ?", docs)
    tables.run_each("DELETE FROM label_N WHERE doc = ?", docs)
    tables.run_each("DELETE FROM vector_N WHERE doc = ?", docs)
    tables.run_each("DELETE FROM doc_N WHERE doc = ?", docs)


def put_vectors(tables: Tables, vectors: Mapping[str, NDArray[np.float32]]) -> None:
    """Give the documents with these ids vectors. Raises `ValueError` for vectors of two sizes."""
    _refuse_two_sizes(tables, vectors.values())
    tables.run_each(_PUT_VECTOR, ((vector_bytes(each), id) for id, each in vectors.items()))


def _put(tables: Tables, doc: int, document: Document) -> None:
    row = (doc, document.id, text_hash(document.text))
    tables.run("INSERT INTO doc_N VALUES (?, ?, ?)", row)
    fields = map(" ".join, document.fields)
    tables.run(_PUT_TERMS, (doc, *fields))
    spellings = ((spelling, doc) for spelling in dict.fromkeys(document.names))
    tables.run_each("INSERT INTO spelling_N VALUES (?, ?)", spellings)
    tables.run_each("INSERT INTO label_N VALUES (?, ?, ?, ?)", _label_words(doc, document))
    if document.vector is not None:
        tables.run(_PUT_VECTOR, (vector_bytes(document.vector), document.id))


def _label_words(doc: int, document: Document) -> Iterator[_LabelWord]:
    for number, label in enumerate(document.labels):
        length = sum(map(len, label))
        yield from (_LabelWord(word, length, doc, number) for word in dict.fromkeys(label))


def _refuse_two_sizes(tables: Tables, vectors: Iterable[NDArray[np.float32]]) -> None:
    sizes = {vector.size for vector in vectors}
    sizes |= {size for (size,) in tables.run("SELECT length(vector) / 4 FROM vector_N LIMIT 1")}
    if len(sizes) > 1:
        raise ValueError(f"vectors of {sorted(sizes)} numbers in one catalog; rebuild it with one")
