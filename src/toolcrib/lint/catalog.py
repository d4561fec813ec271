"""What lint looks at: every capability that a search may return, and what its own words find."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from toolcrib.index import Document, FieldWeights, bm25_arm, document_of
from toolcrib.model import Capability, Entry, Variant
from toolcrib.text import stems, without_stopwords, words

LONGEST_QUERY = 400
MOST_TERMS = 32
MOST_FOUND = 4


class LintRemark(NamedTuple):
    """What a rule says about one capability. `neighbour` is the other one it is about, or ""."""

    name: str
    message: str
    neighbour: str = ""


@dataclass(frozen=True)
class LintCatalog:
    """The entries by name."""

    entries: Mapping[str, Entry]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> "LintCatalog":
        """Only what can be found is looked at, in order of name."""
        searchable = (e for e in entries if e.searchable and e.capability.enabled)
        return cls({e.name: e for e in sorted(searchable, key=lambda e: e.name)})

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Each description in lower case, with single spaces, without a full stop behind it."""
        return {
            name: " ".join(entry.description.lower().split()).rstrip(".")
            for name, entry in self.entries.items()
        }

    @cached_property
    def own_hits(self) -> Mapping[str, tuple[str, ...]]:
        """What each one's own description finds, best first; nothing for an empty one.

        By names, labels and descriptions alone: what two tools have in common in words is what
        confuses searchers first.
        """
        index = bm25_arm(map(_without_detail, self.entries.values()), FieldWeights())
        return {
            name: tuple(match.id for match in index.lookup(_query(text), limit=MOST_FOUND))
            for name, text in self.texts.items()
        }


def _without_detail(entry: Entry) -> Document:
    plain = Capability(
        name=entry.name,
        description=entry.description,
        title=entry.title,
        tags=entry.tags,
        search_hint=entry.capability.search_hint,
    )
    return document_of(plain, bare=entry.bare)


def _query(text: str) -> Variant:
    """A description as somebody would search by it."""
    terms = stems(without_stopwords(words(text[:LONGEST_QUERY])))
    return Variant(text, terms=tuple(terms[:MOST_TERMS]))
