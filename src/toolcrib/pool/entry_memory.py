"""What was made from the entries of a pool, remembered as long as the entries are these."""

from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from toolcrib.model import Entry

MOST = 256

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class OfEntries(Generic[K, V]):
    """Values by key, for the mapping of entries that was seen last. Safe to share."""

    def __init__(self) -> None:
        self._known: tuple[Mapping[str, Entry], dict[K, V]] = ({}, {})

    def get(self, entries: Mapping[str, Entry], key: K, make: Callable[[], V]) -> V:
        """The value of a key for these very entries; made if it is not known."""
        made_from, known = self._known
        if made_from is not entries or len(known) >= MOST:
            known = {}
            self._known = entries, known
        if key not in known:
            known[key] = make()
        return known[key]
