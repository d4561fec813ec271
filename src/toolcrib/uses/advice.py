"""What use has to say to one search, and one search to use."""

from collections.abc import Callable, Mapping, Sequence

from toolcrib.model import Answer, Entry
from toolcrib.pool.entry_memory import OfEntries
from toolcrib.pool.pool import Pool
from toolcrib.search.filters import Scope
from toolcrib.uses.hints import Hints
from toolcrib.uses.links import Links, declared_links
from toolcrib.uses.uses import Uses
from toolcrib.uses.words import content_words, profile_of


class Advice:
    """Use and declared links, by the names of a pool.

    `boost` is the largest share by which a lesson raises a score; 0 means that nothing is learned.
    """

    def __init__(self, uses: Uses, pool: Pool, *, boost: float) -> None:
        self._uses = uses
        self._pool = pool
        self._boost = boost
        self._linked = OfEntries[None, Links]()

    def often_with(self, entries: Mapping[str, Entry]) -> Callable[[str], Sequence[str]]:
        """What tells of an entry what it is often used with, the most often first."""
        return self._uses.often_with(self._links(entries))

    def learned(self, text: str, scope: Scope) -> Mapping[str, float]:
        """By what share earlier use raises the score of which tools for this query."""
        if not self._boost:
            return {}
        shares = self._uses.shares(profile_of(scope), content_words(text))
        return {name: share * self._boost for name, share in shares.items()}

    def answered(self, answer: Answer, caller: str, scope: Scope) -> None:
        """A search was answered, and may lead to a call."""
        if self._boost:
            found = [hit.name for hit in answer]
            self._uses.searched(caller, profile_of(scope), content_words(answer.query), found)

    def hints(self, name: str) -> Hints:
        """All that is known of what an entry is used with. Raises `StoreError`."""
        return self._uses.hints(name, self._links(self._pool.entries))

    def _links(self, entries: Mapping[str, Entry]) -> Links:
        """The declared links, remembered as long as the entries are these."""
        return self._linked.get(
            entries, None, lambda: declared_links(entries, self._pool.candidates)
        )
