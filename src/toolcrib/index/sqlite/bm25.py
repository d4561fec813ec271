"""The `bm25` arm in SQLite: FTS5 over the terms that our tokeniser made."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.index.bm25_formula import FieldWeights, ideal
from toolcrib.index.sqlite.lookup import rank_scored, storable
from toolcrib.index.sqlite.tables import Tables
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant

MOST_TERMS = 1000
"""FTS5 reads an expression in quadratic time: 5 ms for a thousand terms, 5 s for 60,000."""

_SCORED = "SELECT rowid, -bm25(bm25_N, ?, ?, ?, ?) / ? FROM bm25_N WHERE bm25_N MATCH ?"
_DOCUMENTS = "SELECT count(*) FROM doc_N"
_HAVING = "SELECT vocabulary_N.doc FROM json_each(?) JOIN vocabulary_N ON term = value"


@dataclass(frozen=True, slots=True)
class Bm25:
    """One row a document."""

    tables: Tables
    weights: FieldWeights

    def lookup(
        self,
        variant: Variant,
        *,
        limit: int | None = None,
        exclude: NameFilter = EXCLUDE_NOTHING,
    ) -> Ranking:
        """Whatever has at least one of the first thousand terms, by its share of the ideal BM25."""
        terms = storable(variant.terms)[:MOST_TERMS]
        if not terms:
            return []
        match = " OR ".join(map(_quoted, terms))
        bindings = (*self.weights.in_order(), self._ideal(terms), match)
        return rank_scored(self.tables, _SCORED, bindings, limit=limit, exclude=exclude)

    def _ideal(self, terms: Sequence[str]) -> float:
        """See `ideal`.

        FTS5 counts removed rows until it merges, so this may be a little off. It is the same for
        all documents and does not change their order.
        """
        documents: int = self.tables.run(_DOCUMENTS).get
        having = [count for (count,) in self.tables.run(_HAVING, (json.dumps(terms),))]
        absent = len(terms) - len(having)
        return ideal(documents, [*(min(each, documents) for each in having), *[0] * absent])


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
