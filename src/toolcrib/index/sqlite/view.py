"""What one search sees of the catalog file."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.index.protocol import Arm, Index
from toolcrib.index.sqlite.bm25 import Bm25
from toolcrib.index.sqlite.like import Like
from toolcrib.index.sqlite.storable import storable
from toolcrib.index.sqlite.tables import Tables
from toolcrib.index.sqlite.vector import Vector

_NAMED = "SELECT id FROM spelling_N JOIN doc_N USING (doc) WHERE spelling = ? ORDER BY id"


@dataclass(frozen=True, slots=True)
class SqliteView:
    """One generation, in one transaction: of use in the block and the thread it was got in."""

    generation: int
    mark: str
    tables: Tables
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
        return [id for each in storable([spelling]) for id in self._ids(_NAMED, each)]

    def ids(self) -> Sequence[str]:
        """All ids, in order."""
        return self._ids("SELECT id FROM doc_N ORDER BY id")

    def _ids(self, sql: str, *bindings: str) -> list[str]:
        return [id for (id,) in self.tables.run(sql, bindings)]
