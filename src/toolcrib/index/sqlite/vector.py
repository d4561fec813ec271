"""The `vector` arm in SQLite: sqlite-vec's distance to every row.

The scan is a plain table's, not that of sqlite-vec's own: it costs a third more time, and takes
any limit (theirs ends at 4,096), breaks ties by id, and needs no size in its definition.
"""

from dataclasses import dataclass
from typing import Self

from toolcrib.index.sqlite.lookup import rank_scored
from toolcrib.index.sqlite.tables import Tables
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant
from toolcrib.store import vector_bytes

_SCORED = "SELECT doc, 1 - vec_distance_cosine(vector, ?) FROM vector_N"

_SIZE = "SELECT length(vector) / 4 FROM vector_N LIMIT 1"


@dataclass(frozen=True, slots=True)
class Vector:
    """One row a document that has a vector."""

    tables: Tables

    @classmethod
    def of(cls, tables: Tables) -> Self | None:
        """The arm over these tables, if any document has a vector."""
        return cls(tables) if tables.run("SELECT EXISTS (SELECT 1 FROM vector_N)").get else None

    @property
    def size(self) -> int:
        """How many numbers each vector has."""
        return self.tables.run(_SIZE).get

    def lookup(
        self,
        variant: Variant,
        *,
        limit: int | None = None,
        exclude: NameFilter = EXCLUDE_NOTHING,
    ) -> Ranking:
        """Whatever has a cosine above zero with the query, the largest first."""
        if variant.vector is None:
            return []
        bindings = (vector_bytes(variant.vector),)
        return rank_scored(self.tables, _SCORED, bindings, limit=limit, exclude=exclude)
