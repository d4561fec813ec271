"""The `bm25` arm in SQLite: FTS5 over the terms that our tokeniser made."""

from collections.abc import Collection
from dataclasses import dataclass

from toolcrib.index.sqlite.ranking import ranking
from toolcrib.index.sqlite.storable import storable
from toolcrib.index.sqlite.tables import Tables
from toolcrib.index.weights import FieldWeights
from toolcrib.model import Ranking, Variant

MOST_TERMS = 1000
"""FTS5 reads an expression in quadratic time: 5 ms for a thousand terms, 5 s for 60,000."""

_SCORED = "SELECT rowid, -bm25(bm25_N, ?, ?, ?, ?) FROM bm25_N WHERE bm25_N MATCH ?"


@dataclass(frozen=True, slots=True)
class Bm25:
    """One row a document."""

    tables: Tables
    weights: FieldWeights

    def lookup(
        self, variant: Variant, *, limit: int | None = None, exclude: Collection[str] = ()
    ) -> Ranking:
        """Whatever has at least one of the first thousand terms, by BM25."""
        terms = storable(variant.terms)[:MOST_TERMS]
        if not terms:
            return []
        bindings = (*self.weights.in_order(), " OR ".join(map(_quoted, terms)))
        return ranking(self.tables, _SCORED, bindings, limit=limit, exclude=exclude)


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
