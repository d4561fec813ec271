"""Vectors by the model that made them and the hash of what they say."""

from collections.abc import Mapping, Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

STORED = np.dtype("<f4")
"""How a vector lies in the file, whatever the machine; it is what sqlite-vec reads."""


def cached(
    db: apsw.Connection, model: str, hashes: Sequence[bytes]
) -> dict[bytes, NDArray[np.float32]]:
    """Those that were kept, by hash."""
    sql = "SELECT text_hash, vector FROM cached_vector WHERE model = ? AND text_hash = ?"
    number = _number(db, model)
    rows = db.executemany(sql, ((number, each) for each in hashes))
    return {text_hash: np.frombuffer(vector, STORED) for text_hash, vector in rows}


def present(db: apsw.Connection, model: str, hashes: Sequence[bytes]) -> set[bytes]:
    """The hashes of those that were kept. No vector is read."""
    sql = "SELECT text_hash FROM cached_vector WHERE model = ? AND text_hash = ?"
    number = _number(db, model)
    return {row[0] for row in db.executemany(sql, ((number, each) for each in hashes))}


def keep(db: apsw.Connection, model: str, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
    """All of them, in place of what was there; they are the newest now."""
    db.execute("INSERT OR IGNORE INTO vector_model (name) VALUES (?)", (model,))
    number = _number(db, model)
    db.executemany(
        "INSERT OR REPLACE INTO cached_vector (model, text_hash, vector) VALUES (?, ?, ?)",
        ((number, text_hash, vector_bytes(vector)) for text_hash, vector in vectors.items()),
    )


def size(db: apsw.Connection) -> int:
    """The bytes in use of the file that they lie in, whatever else is in it."""
    pages = int(db.pragma("page_count")) - int(db.pragma("freelist_count"))
    return pages * int(db.pragma("page_size"))


def forget_oldest(db: apsw.Connection, share: float) -> None:
    """Such a share of them, of every model: those that were kept longest ago."""
    [(first, last)] = db.execute("SELECT min(id), max(id) FROM cached_vector")
    if first is not None:
        until = first + int(share * (last - first))
        db.execute("DELETE FROM cached_vector WHERE id <= ?", (until,))


def _number(db: apsw.Connection, model: str) -> int | None:
    """What a model is called in the rows; None, which equals nothing, if it has none."""
    return db.execute("SELECT id FROM vector_model WHERE name = ?", (model,)).get


def vector_bytes(vector: Sequence[float] | NDArray[np.float32]) -> bytes:
    """A vector as it lies in the file."""
    return np.asarray(vector, STORED).tobytes()
