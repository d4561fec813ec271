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
    sql = "SELECT text_hash, vector FROM embedding WHERE model = ? AND text_hash = ?"
    rows = db.executemany(sql, ((model, each) for each in hashes))
    return {text_hash: np.frombuffer(vector, STORED) for text_hash, vector in rows}


def keep(db: apsw.Connection, model: str, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
    """All of them, in place of what was there."""
    db.executemany(
        "INSERT OR REPLACE INTO embedding VALUES (?, ?, ?)",
        ((model, text_hash, vector_bytes(vector)) for text_hash, vector in vectors.items()),
    )


def size(db: apsw.Connection) -> int:
    """The bytes in use of the file that they lie in, whatever else is in it."""
    pages = int(db.pragma("page_count")) - int(db.pragma("freelist_count"))
    return pages * int(db.pragma("page_size"))


def forget(db: apsw.Connection) -> None:
    """All of them, of every model."""
    db.execute("DELETE FROM embedding")


def vector_bytes(vector: Sequence[float] | NDArray[np.float32]) -> bytes:
    """A vector as it lies in the file."""
    return np.asarray(vector, STORED).tobytes()
