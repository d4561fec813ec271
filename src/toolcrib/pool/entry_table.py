"""All entries of one moment by name, made of those of the moment before in the time of a change.

    base    what was there when the table was last made whole; many tables share it
    delta   what is otherwise since then, by name: another entry, or None for what is gone

A table never changes. `changed_since` tells what differs from an earlier table of the same pool,
so that whatever was made from that one is mended rather than made again: see `EntryCache`.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Generic, Protocol, TypeVar, cast, overload

from toolcrib.model import Entry

MOST_CACHED = 256
MOST_CHANGES = 1 << 16
LEAST_FOLDED = 512
SHARE_FOLDED = 64

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class EntryBase(Protocol):
    """What most entries of a table are looked up in: names with their entries, never changed."""

    def get(self, name: str, /) -> Entry | None: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[str]: ...

    def named(self, bare: str) -> Sequence[str]:
        """The full names that have this bare name, in any order."""
        ...


class DictBase(dict[str, Entry]):
    """A base in memory; by bare name it is sorted out when somebody asks."""

    def named(self, bare: str) -> Sequence[str]:
        return self._by_bare.get(bare, ())

    @cached_property
    def _by_bare(self) -> Mapping[str, Sequence[str]]:
        return _by_bare(self.values())


class ChangeLog:
    """What each of the last changes of one pool was about, by its number."""

    def __init__(self) -> None:
        self._changes: dict[int, Collection[str]] = {}
        self._size = 0
        self._first = 1

    def append(self, number: int, names: Collection[str]) -> None:
        """Note the names of a change; the oldest are forgotten where that is too much."""
        self._changes[number] = names
        self._size += len(names)
        while self._size > MOST_CHANGES or len(self._changes) > MOST_CHANGES:
            self._size -= len(self._changes.pop(self._first))
            self._first += 1

    def between(self, earlier: int, later: int) -> Collection[str] | None:
        """The names of all changes after one and up to another; None if that is forgotten."""
        known = [self._changes.get(number) for number in range(earlier + 1, later + 1)]
        if earlier > later or any(names is None for names in known):
            return None
        return frozenset(name for names in known if names for name in names)


class Moment:
    """Which table of which pool: all that a later one has to know of it."""

    __slots__ = ("log", "number")

    def __init__(self, log: ChangeLog, number: int) -> None:
        self.log = log
        self.number = number

    def next(self, names: Iterable[str]) -> "Moment":
        """The moment after this one, once these names have changed."""
        self.log.append(self.number + 1, frozenset(names))
        return Moment(self.log, self.number + 1)


class EntryTable(Mapping[str, Entry]):
    """The entries of a pool at one moment. Safe to share between threads; never changed."""

    def __init__(
        self, base: EntryBase, delta: Mapping[str, Entry | None], moment: Moment, length: int
    ) -> None:
        self._base = base
        self._delta = delta
        self._length = length
        self.moment = moment

    @classmethod
    def empty(cls) -> "EntryTable":
        """The table of a new pool."""
        return cls(DictBase(), {}, Moment(ChangeLog(), 0), 0)

    def __getitem__(self, name: str) -> Entry:
        if (found := self._find(name)) is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    @overload
    def get(self, name: str, default: None = None, /) -> Entry | None: ...
    @overload
    def get(self, name: str, default: Entry, /) -> Entry: ...
    @overload
    def get(self, name: str, default: V, /) -> Entry | V: ...
    def get(self, name: str, default: object = None, /) -> object:
        """The entry of a name, else the default."""
        found = self._find(name)
        return default if found is None else found

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        """The names, in no order that means anything, but the same each time."""
        delta = self._delta
        yield from (name for name in self._base if name not in delta)
        yield from (name for name, each in delta.items() if each is not None)

    def named(self, bare: str) -> Sequence[str]:
        """The full names of those that have this bare name, in order."""
        delta = self._delta
        at_base = (name for name in self._base.named(bare) if name not in delta)
        return sorted((*at_base, *self._delta_by_bare.get(bare, ())))

    def changed_since(self, earlier: Mapping[str, Entry]) -> Collection[str] | None:
        """Names that were added, changed or removed since an earlier table of the same pool.

        None if nobody knows: it is of another pool, or of long ago.
        """
        return self.changed_after(earlier.moment) if isinstance(earlier, EntryTable) else None

    def changed_after(self, moment: Moment) -> Collection[str] | None:
        """The same, since the table of that moment."""
        mine = self.moment
        return mine.log.between(moment.number, mine.number) if moment.log is mine.log else None

    def changed(self, changes: Mapping[str, Entry | None]) -> "EntryTable":
        """The table of the next moment: with these in place of what was there; None: gone."""
        length = self._length
        for name, each in changes.items():
            length += (each is not None) - (name in self)
        delta = {**self._delta, **changes}
        most = max(LEAST_FOLDED, len(self._base) // SHARE_FOLDED)
        base, delta = _folded(self._base, delta) if len(delta) > most else (self._base, delta)
        return EntryTable(base, delta, self.moment.next(changes), length)

    def _find(self, name: str) -> Entry | None:
        return self._delta[name] if name in self._delta else self._base.get(name)

    @cached_property
    def _delta_by_bare(self) -> Mapping[str, Sequence[str]]:
        return _by_bare(each for each in self._delta.values() if each is not None)


class EntryCache(Generic[K, V]):
    """Values by key that were made from entries. Safe to share between threads.

    A value of an earlier moment of the same pool is mended, by what changed since.
    """

    def __init__(self) -> None:
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
        changed = _changed(entries, made_from) if update else None
        made = make() if update is None or changed is None else update(cast("V", value), changed)
        if len(self._values) >= MOST_CACHED and key not in self._values:
            self._values = {}
        self._values[key] = moment, made
        return made


def _changed(
    entries: Mapping[str, Entry], made_from: Moment | Mapping[str, Entry] | None
) -> Collection[str] | None:
    if isinstance(entries, EntryTable) and isinstance(made_from, Moment):
        return entries.changed_after(made_from)
    return None


def _folded(
    base: EntryBase, delta: Mapping[str, Entry | None]
) -> tuple[EntryBase, Mapping[str, Entry | None]]:
    """One base of a base and a delta, and the empty delta."""
    whole = {**base, **delta} if isinstance(base, DictBase) else delta
    return DictBase({name: each for name, each in whole.items() if each is not None}), {}


def _by_bare(entries: Iterable[Entry]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for entry in entries:
        found.setdefault(entry.bare, []).append(entry.name)
    return found
