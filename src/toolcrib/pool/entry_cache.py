"""Values that were made from the entries of a pool, mended when these change."""

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Generic, TypeVar, cast

from toolcrib.model import Entry
from toolcrib.pool.entry_table import EntryTable, Moment

MOST_CACHED = 256

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class EntryCache(Generic[K, V]):
    """Values by key that were made from entries. Safe to share between threads.

    A value of an earlier moment of the same pool is mended, by what changed since. `by_state`:
    the states of entries matter to the values; else only their definitions do.
    """

    def __init__(self, *, by_state: bool = True) -> None:
        self._by_state = by_state
        self._values: dict[K, tuple[Moment | Mapping[str, Entry], V]] = {}

    def get(
        self,
        entries: Mapping[str, Entry],
        key: K,
        make: Callable[[], V],
        update: Callable[[V, Collection[str]], V] | None = None,
    ) -> V:
        """The value of a key for these very entries; made if it is not known.

        `update` makes it from the value of an earlier moment and the names that were added,
        changed or removed since, maybe none. It must leave the earlier value as it was, since
        others may hold it.
        """
        moment = entries.moment if isinstance(entries, EntryTable) else entries
        made_from, value = self._values.get(key, (None, None))
        if made_from is moment:
            return cast("V", value)
        changed = self._changed(entries, made_from) if update else None
        made = make() if update is None or changed is None else update(cast("V", value), changed)
        if len(self._values) >= MOST_CACHED and key not in self._values:
            self._values = {}
        self._values[key] = moment, made
        return made

    def _changed(
        self, entries: Mapping[str, Entry], made_from: Moment | Mapping[str, Entry] | None
    ) -> Collection[str] | None:
        if not isinstance(entries, EntryTable) or not isinstance(made_from, Moment):
            return None
        after = entries.changed_after if self._by_state else entries.redefined_after
        return after(made_from)
