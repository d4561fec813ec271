"""What use tells one search, and what one search tells use.

Of a query only hashes of its content words are kept, by the rights of whoever asked: nobody learns
from those who may see more.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from hashlib import blake2b
from typing import TypeAlias, cast

from toolcrib.access import Scope
from toolcrib.model import Answer, Entry
from toolcrib.pool import EntryCache, Pool
from toolcrib.search import FreeQuery, PoolFacts, parse_query, plain_words
from toolcrib.text import ENGLISH_STOPWORDS, is_unspaced, stems, terms, words
from toolcrib.uses.counts import HASH_BYTES
from toolcrib.uses.hints import Links, UseHints, declared_links
from toolcrib.uses.history import UseHistory

MOST_WORDS = 16
FactsOf: TypeAlias = Callable[[Mapping[str, Entry]], PoolFacts]
"""What search knows of all entries."""
NO_RIGHTS = frozenset({"bound"})
"""What a scope says that grants nothing and takes nothing: what its caller has already."""


def content_words(query: str) -> Sequence[str]:
    """The telling words of a free text: stems, or pairs of characters; each once, in order.

    Stop words are left out, and whatever has a digit in it: numbers, dates, ids. A query of any
    other form has none.
    """
    form = parse_query(query)
    some = words(plain_words(form.text)) if isinstance(form, FreeQuery) else []
    content = [
        each for each in some if each not in ENGLISH_STOPWORDS and not any(map(str.isdigit, each))
    ]
    spelt = [one for each in content for one in (terms if is_unspaced(each) else stems)([each])]
    return list(dict.fromkeys(spelt))[:MOST_WORDS]


@lru_cache(maxsize=256)
def rights_hash(scope: Scope) -> bytes:
    """The profile of callers with these rights, as a hash: equal only for equal rights.

    Every field of the scope counts, one that is added later too, but for those that are no rights.
    """
    rights = [
        (field.name, _in_order(getattr(scope, field.name)))
        for field in fields(scope)
        if field.name not in NO_RIGHTS
    ]
    return blake2b(repr(rights).encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def _in_order(value: object) -> object:
    """A value of a scope, in one order."""
    return sorted(cast("frozenset[str]", value)) if isinstance(value, frozenset) else value


class UseAdvice:
    """Use and declared links, by the names of a pool. `facts` tell who declares any.

    `boost` is the largest share by which a lesson raises a score; 0 means that nothing is learned.
    """

    def __init__(self, history: UseHistory, pool: Pool, facts: FactsOf, *, boost: float) -> None:
        self.history = history
        self._pool = pool
        self._facts = facts
        self._boost = boost
        self._links_of = EntryCache[None, Links]()

    def often_with(self, entries: Mapping[str, Entry]) -> Callable[[str], Sequence[str]]:
        """What tells of an entry what it is often used with, the most often first."""
        return self.history.often_with(self._links(entries))

    def learned(self, text: str, scope: Scope) -> Mapping[str, float]:
        """By what share earlier use raises the score of which tools for this query."""
        if not self._boost:
            return {}
        shares = self.history.shares(rights_hash(scope), content_words(text))
        return {name: share * self._boost for name, share in shares.items()}

    def answered(self, answer: Answer, caller: str, scope: Scope) -> None:
        """A search was answered, and may lead to a call."""
        if self._boost:
            found = [hit.name for hit in answer]
            self.history.searched(caller, rights_hash(scope), content_words(answer.query), found)

    def hints(self, name: str) -> UseHints:
        """All that is known of what an entry is used with. Raises `StoreError`."""
        return self.history.hints(name, self._links(self._pool.entries))

    def _links(self, entries: Mapping[str, Entry]) -> Links:
        """The declared links, remembered as long as the entries are these."""

        def made() -> Links:
            return declared_links(self._facts(entries).linking(), entries, self._pool.candidates)

        return self._links_of.get(entries, None, made)
