"""What is looked at: every capability that a search may return, with its nearest neighbours."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from toolcrib.index.document import document
from toolcrib.index.memory.engine import MemoryEngine
from toolcrib.model import Entry, Variant
from toolcrib.text.words import roots, telling, words

MOST_TERMS = 48
MOST_FOUND = 4


class Told(NamedTuple):
    """What a rule has to say of one capability, and the other one it is about, if there is one."""

    name: str
    message: str
    neighbour: str = ""


@dataclass(frozen=True)
class Shelf:
    """The entries by name. `found` is what each one's own description finds, best first.

    By words alone: what two tools have in common in words is what confuses searchers first.
    """

    entries: Mapping[str, Entry]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> "Shelf":
        """Only what can be found is looked at, in order of name."""
        shown = (e for e in entries if e.capability.searchable and e.capability.enabled)
        return cls({entry.name: entry for entry in sorted(shown, key=lambda entry: entry.name)})

    @cached_property
    def found(self) -> Mapping[str, tuple[str, ...]]:
        """Empty for what has no description."""
        engine = MemoryEngine()
        engine.rebuild(
            document(entry.capability, id=name, bare=entry.bare)
            for name, entry in self.entries.items()
        )
        with engine.view() as view:
            return {
                name: tuple(match.id for match in view.bm25.lookup(query, limit=MOST_FOUND))
                for name, query in self._queries.items()
            }

    @cached_property
    def _queries(self) -> Mapping[str, Variant]:
        return {name: _query(entry) for name, entry in self.entries.items()}


def _query(entry: Entry) -> Variant:
    """The description of a capability as somebody would search by it."""
    text = entry.capability.description
    terms = dict.fromkeys(roots(telling(words(text))))
    return Variant(text, terms=tuple(terms)[:MOST_TERMS])
