"""The BM25 formula and the weights of fields: one for every engine."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log

from toolcrib.index.document import FIELDS, Document, Field

K1 = 1.2
B = 0.75
LEAST_IDF = 1e-6


def idf(documents: int, having: int) -> float:
    """Inverse document frequency: the fewer documents have a term, the more it counts."""
    return max(log((documents - having + 0.5) / (having + 0.5)), LEAST_IDF)


def ideal(documents: int, having: Iterable[int]) -> float:
    """The BM25 score of an ideal document, full of these terms: `having` has the count of each."""
    return sum(idf(documents, each) for each in having) * (K1 + 1)


@dataclass(frozen=True, slots=True)
class FieldWeights:
    """The weight of one occurrence of a term in each field of a document, for BM25.

    The defaults are a part of the formula, and what all quality numbers were measured with.

    score(d) = Σ_term idf · tf·(k1+1) / (tf + k1·(1 - b + b·|d|/avg|d|)),
    tf = Σ_field weight · occurrences, |d| = all terms of d, k1 = 1.2, b = 0.75,
    idf = ln((N - n + 0.5)/(n + 0.5)), never below 0.000001.
    It is SQLite's FTS5 formula to the letter, so that both engines rank alike.
    """

    name: float = 4.0
    label: float = 2.0
    description: float = 1.0
    detail: float = 1.0

    def in_order(self) -> tuple[float, ...]:
        """The weights in the order of a document's fields."""
        by_field: Mapping[Field, float] = {
            "name": self.name,
            "label": self.label,
            "description": self.description,
            "detail": self.detail,
        }
        return tuple(by_field[field] for field in FIELDS)

    def frequencies(self, document: Document) -> dict[str, float]:
        """Each term of the document with its weighted number of occurrences."""
        weighted: dict[str, float] = {}
        for weight, terms in zip(self.in_order(), document.fields, strict=True):
            for term in terms:
                weighted[term] = weighted.get(term, 0.0) + weight
        return weighted
