"""A baseline: BM25 over one field, as rank_bm25 has it, and its fusion with another ranking.

Words are cut, stemmed and rid of stop words by our own tokeniser, Chinese is taken in pairs of
characters: what differs from Toolcrib's arm is the ranking alone. k1 = 1.5, b = 0.75.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from benchmarks.plain_fts5 import schema_words
from toolcrib.evaluate.cases import EvalTool
from toolcrib.model import Match
from toolcrib.search.rrf import rrf_variants
from toolcrib.text import is_unspaced, stems, terms, without_stopwords, words

K1, B = 1.5, 0.75


class PlainBm25:
    """The tools of one catalog. Ties are in the order in which they came."""

    def __init__(self, tools: Mapping[str, EvalTool]) -> None:
        self._ids = list(tools)
        counts = [Counter(_terms(_text(tool))) for tool in tools.values()]
        lengths = np.array([each.total() for each in counts], dtype=float)
        self._damping = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0))
        rows: dict[str, list[int]] = {}
        for row, count in enumerate(counts):
            for term in count:
                rows.setdefault(term, []).append(row)
        self._weights = {term: self._weighed(term, some, counts) for term, some in rows.items()}

    def search(self, text: str, limit: int) -> Sequence[str]:
        """The ids of the best, best first."""
        scores = np.zeros(len(self._ids))
        for term in _terms(text):
            if term in self._weights:
                rows, weights = self._weights[term]
                scores[rows] += weights
        best = np.argsort(-scores, kind="stable")[:limit]
        return [self._ids[row] for row in best.tolist() if scores[row] > 0]

    def _weighed(
        self, term: str, rows: Sequence[int], counts: Sequence[Counter[str]]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        idf = log(1 + (len(counts) - len(rows) + 0.5) / (len(rows) + 0.5))
        often, where = np.array([counts[row][term] for row in rows]), np.array(rows)
        return where, idf * often * (K1 + 1) / (often + self._damping[where])


def rrf(rankings: Iterable[Sequence[str]]) -> Sequence[str]:
    """Reciprocal rank fusion with k = 60."""
    scored = ((1.0, [Match(id, 0.0) for id in ranking]) for ranking in rankings)
    return [match.id for match in rrf_variants(scored)]


def _text(tool: EvalTool) -> str:
    return " ".join([tool.name, tool.description or "", *schema_words(tool.parameters or {})])


def _terms(text: str) -> list[str]:
    some = without_stopwords(words(text))
    return [
        term for word in some for term in (terms([word]) if is_unspaced(word) else stems([word]))
    ]
