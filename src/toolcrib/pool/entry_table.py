"""All entries of one moment by name, made of those of the moment before in the time of a change.

    stored  entries that lie in a file (`pool_pack`), most of them in a large pool
    base    entries in memory, as they were when they were last put together; many tables share it
    delta   what is otherwise there since then, by name: another entry, or None for what is gone

A table never changes. `changed_since` tells what differs from an earlier table of the same pool,
so that whatever was made from that one is mended rather than made again: see `entry_cache`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, ValuesView
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar, overload

from toolcrib.model import Entry, EntryGroups, EntryTraits

MOST_CHANGES = 1 << 16
LEAST_FOLDED = 512
SHARE_FOLDED = 64

EMPTY: Mapping[str, Entry] = {}
_NO_NAMES: frozenset[str] = frozenset()

V = TypeVar("V")


class StoredEntries(Protocol):
    """Entries that lie in a file, under names that no entry in memory has; never changed."""

    def get(self, name: str, /) -> Entry | None: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[str]: ...

    def values(self) -> Iterable[Entry]:
        """The entries in the order of their names."""
        ...

    def named(self, bare: str) -> Sequence[str]:
        """The full names that have this bare name, in any order."""
        ...

    def groups(self) -> Mapping[EntryTraits, Collection[str]]:
        """The names of all of them by their traits."""
        ...

    def facts(self, version: str) -> "WrittenFacts | None":
        """The facts that were written with them; None if there are none of this version."""
        ...


class WrittenFacts(Protocol):
    """Facts of stored entries, as somebody made them when the file was written."""

    @property
    def names(self) -> Mapping[str, Collection[str]]:
        """The names of the entries by the text of their facts."""
        ...

    def text_of(self, name: str) -> str | None:
        """The text of a stored entry."""
        ...


class EntryDict(dict[str, Entry]):
    """Entries in memory; by bare name they are sorted out when somebody asks."""

    def named(self, bare: str) -> Sequence[str]:
        """The full names that have this bare name."""
        return self._by_bare.get(bare, ())

    def groups(self) -> Mapping[EntryTraits, Collection[str]]:
        """The names by their traits."""
        return EntryGroups.of(self).groups

    def facts(self, version: str) -> None:
        """None: nothing was written with them."""

    @cached_property
    def _by_bare(self) -> Mapping[str, Sequence[str]]:
        return _by_bare(self.values())


class TableChange(NamedTuple):
    """The names that a change was about; `restated` are those of which the state alone is new."""

    names: frozenset[str]
    restated: frozenset[str] = frozenset()


class ChangeLog:
    """What each of the last changes of one pool was about, by its number."""

    def __init__(self) -> None:
        self._changes: dict[int, TableChange] = {}
        self._size = 0

    def append(self, number: int, change: TableChange | None) -> None:
        """Note a change; the oldest are forgotten where that is too much. None: nobody knows."""
        if change is None or len(change.names) > MOST_CHANGES:
            self._changes, self._size = {}, 0
            return
        self._changes[number] = change
        self._size += len(change.names) + 1
        while self._size > MOST_CHANGES:
            self._size -= len(self._changes.pop(next(iter(self._changes))).names) + 1

    def between(self, earlier: int, later: int) -> Sequence[TableChange] | None:
        """All changes after one and up to another; None if that is forgotten."""
        changes = self._changes
        if earlier > later or (earlier < later and earlier + 1 not in changes):
            return None
        known = [changes.get(number) for number in range(earlier + 1, later + 1)]
        found = [change for change in known if change is not None]
        return found if len(found) == len(known) else None


class Moment:
    """Which table of which pool: all that a later one has to know of it."""

    __slots__ = ("log", "number")

    def __init__(self, log: ChangeLog, number: int) -> None:
        self.log = log
        self.number = number

    def next(self, change: TableChange | None) -> "Moment":
        """The moment after this one, once something has changed; None: nobody knows what."""
        self.log.append(self.number + 1, change)
        return Moment(self.log, self.number + 1)


NOTHING_CHANGED = TableChange(frozenset())


class EntryTable(Mapping[str, Entry]):
    """The entries of a pool at one moment. Safe to share between threads; never changed.

    `stored` are those in a file; whoever can read them there all at once need not walk them.
    `place` is another object once entries lie in another file.
    """

    def __init__(
        self,
        stored: StoredEntries,
        base: EntryDict,
        delta: Mapping[str, Entry | None],
        moment: Moment,
        place: object,
    ) -> None:
        self.stored = stored
        self.moment = moment
        self.place = place
        self._base = base
        self._delta = delta

    @classmethod
    def empty(cls) -> "EntryTable":
        """The table of a new pool."""
        return cls(EntryDict(), EntryDict(), {}, Moment(ChangeLog(), 0), object())

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
        """The entry of a name, else the default. A search asks for a hundred."""
        delta = self._delta
        found = delta[name] if name in delta else self._base.get(name)
        return found or self.stored.get(name) or default

    def __len__(self) -> int:
        return len(self.stored) + self._in_memory

    def values(self) -> "EntryValues":
        """The entries in the order of their names."""
        return EntryValues(self)

    def __iter__(self) -> Iterator[str]:
        """The names, in no order that means anything, but the same each time."""
        yield from self.names_in_memory()
        yield from self.stored

    def names_in_memory(self) -> Iterator[str]:
        """The names of the entries that are not `stored`."""
        delta = self._delta
        yield from (name for name in self._base if name not in delta)
        yield from (name for name, each in delta.items() if each is not None)

    def named(self, bare: str) -> Sequence[str]:
        """The full names of those that have this bare name, in order."""
        delta = self._delta
        at_base = (name for name in self._base.named(bare) if name not in delta)
        in_delta = self._delta_by_bare.get(bare, ())
        return sorted((*at_base, *in_delta, *self.stored.named(bare)))

    def groups(self) -> EntryGroups:
        """All names by the traits of their entries; nobody looks at those in a file one by one."""
        stored = dict(self.stored.groups())
        in_memory = EntryGroups.of({name: self[name] for name in self.names_in_memory()})
        for traits, names in in_memory.items():
            stored[traits] = frozenset((*stored.get(traits, ()), *names))
        return EntryGroups(self, stored)

    def changed_since(self, earlier: Mapping[str, Entry]) -> Collection[str] | None:
        """Names that were added, changed or removed since an earlier table of the same pool.

        None if nobody knows: it is of another pool, or of long ago.
        """
        return self.changed_after(earlier.moment) if isinstance(earlier, EntryTable) else None

    def redefined_since(self, earlier: "EntryTable") -> Collection[str] | None:
        """The same, without those of which the state alone is another."""
        return self.redefined_after(earlier.moment)

    def changed_after(self, moment: Moment) -> Collection[str] | None:
        """Names that were added, changed or removed since the table of that moment."""
        changes = self._changes_after(moment)
        return None if changes is None else _NO_NAMES.union(*(each.names for each in changes))

    def redefined_after(self, moment: Moment) -> Collection[str] | None:
        """The same, without those of which the state alone is another."""
        changes = self._changes_after(moment)
        if changes is None:
            return None
        return _NO_NAMES.union(*(each.names - each.restated for each in changes))

    def changed(
        self,
        changes: Mapping[str, Entry | None],
        stored: StoredEntries | None = None,
        names: TableChange | None = NOTHING_CHANGED,
        moved: Mapping[str, Entry] = EMPTY,
    ) -> "EntryTable":
        """The table of the next moment: with these in place of what was in memory; None: gone.

        `stored` takes the place of what was, where it is given; `names` are those that changed
        with it, None if it is not worth while to say. `moved` are entries that were stored and
        now are in memory, of which nothing else is new.
        """
        delta, base = {**self._delta, **moved, **changes}, self._base
        if len(delta) > max(LEAST_FOLDED, len(base) // SHARE_FOLDED):
            whole = {**base, **delta}
            base, delta = EntryDict({k: each for k, each in whole.items() if each is not None}), {}
        moment = self.moment.next(None if names is None else self._change(changes, names))
        kept = self.stored if stored is None else stored
        return EntryTable(kept, base, delta, moment, self.place)

    def moved(self, stored: StoredEntries, in_memory: Mapping[str, Entry]) -> "EntryTable":
        """The table of the next moment, of which nothing is new but where its entries lie."""
        moment = self.moment.next(NOTHING_CHANGED)
        return EntryTable(stored, EntryDict(in_memory), {}, moment, object())

    def _change(self, changes: Mapping[str, Entry | None], stored: TableChange) -> TableChange:
        restated = (n for n, each in changes.items() if each and _is_restated(self._find(n), each))
        return TableChange(stored.names.union(changes), stored.restated.union(restated))

    def _changes_after(self, moment: Moment) -> Sequence[TableChange] | None:
        mine = self.moment
        return mine.log.between(moment.number, mine.number) if moment.log is mine.log else None

    def _find(self, name: str) -> Entry | None:
        found = self._delta[name] if name in self._delta else self._base.get(name)
        return found or self.stored.get(name)

    @cached_property
    def _in_memory(self) -> int:
        gone = sum(name in self._base for name in self._delta)
        return len(self._base) - gone + sum(each is not None for each in self._delta.values())

    @cached_property
    def _delta_by_bare(self) -> Mapping[str, Sequence[str]]:
        return _by_bare(each for each in self._delta.values() if each is not None)


class EntryValues(ValuesView[Entry]):
    """The entries of a table, without a look at their names."""

    def __init__(self, table: EntryTable) -> None:
        super().__init__(table)
        self._table = table

    def __iter__(self) -> Iterator[Entry]:
        table = self._table
        yield from (table[name] for name in table.names_in_memory())
        yield from table.stored.values()


def _is_restated(old: Entry | None, new: Entry) -> bool:
    """Whether two entries of a name have one definition, by its hash."""
    return old is not None and bool(new.content) and old.content == new.content


def _by_bare(entries: Iterable[Entry]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for entry in entries:
        found.setdefault(entry.bare, []).append(entry.name)
    return found
