"""The `like` arm in SQLite: the words of labels in a table; the formula is in `fuzzy_match`."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from toolcrib.index.fuzzy_match import Vocabulary, by_likeness, hopeless, likeness, longest_in_reach
from toolcrib.index.sqlite.lookup import storable
from toolcrib.index.sqlite.tables import Tables
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant

# For each label, the characters found: of each word of the query the best that the label has.
_FOUND = """
WITH meaning(part, word, characters) AS (
    SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)
),
best(doc, number, length, characters) AS (
    SELECT doc, number, length, max(characters) FROM meaning CROSS JOIN label_N USING (word)
    WHERE length <= ? GROUP BY part, doc, number
)
SELECT id, length, sum(characters) FROM best CROSS JOIN doc_N USING (doc) GROUP BY doc, number
"""


class Labels(NamedTuple):
    """What a lookup needs of all labels at once; small, and cached for one generation."""

    vocabulary: Vocabulary
    longest: int


@dataclass(frozen=True, slots=True)
class Like:
    """One row a word of a label."""

    tables: Tables
    labels: Callable[[], Labels]

    def lookup(
        self,
        variant: Variant,
        *,
        limit: int | None = None,
        exclude: NameFilter = EXCLUDE_NOTHING,
    ) -> Ranking:
        """The capabilities with a label like the query, by the likeness of their best label."""
        words = storable(variant.words)
        characters = sum(map(len, words))
        if not characters or hopeless(characters, self.labels().longest):
            return []
        found = self._found(words, longest_in_reach(characters))
        alike = ((id, likeness(some, length, characters)) for id, length, some in found)
        return by_likeness(alike, limit=limit, exclude=exclude)

    def _found(self, words: Sequence[str], longest: float) -> Iterable[tuple[str, int, float]]:
        vocabulary = self.labels().vocabulary
        meaning = [
            (part, other, weight * len(word))
            for part, word in enumerate(words)
            for other, weight in vocabulary.stands_for(word).items()
        ]
        return self.tables.run(_FOUND, (json.dumps(meaning), longest)).fetchall()


def read_labels(tables: Tables) -> Labels:
    """Read it from the tables."""
    words = tables.run("SELECT DISTINCT word FROM label_N ORDER BY word").fetchall()
    longest = tables.run("SELECT ifnull(max(length), 0) FROM label_N").get
    return Labels(Vocabulary([word for (word,) in words]), longest)
