"""Which sources of a pool pack are in the pool, each in which state, and what changed of that.

Of a source that is looked up here some rows may not be: those that it lists otherwise by now.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from toolcrib.model import Entry, State
from toolcrib.names import Origin, allowed
from toolcrib.pool.entries import entry_print
from toolcrib.pool.entry_table import NOTHING_CHANGED, TableChange
from toolcrib.pool.listing import AT_SOURCE, Listed, Listing
from toolcrib.pool.pool_pack import PackedSource, PoolPack
from toolcrib.pool.stored_entry import StoredCapability, StoredRows


class StoredChange(NamedTuple):
    """What a settlement changed of the stored entries; `names` is None if that is too many."""

    entries: StoredRows | None = None
    names: TableChange | None = NOTHING_CHANGED
    added: Sequence[Entry] = ()
    changed: Sequence[Entry] = ()
    removed: Mapping[str, Entry] = {}
    print: int = 0


class AddedRows(Sequence[Entry]):
    """The entries of some sources of a pack. They are made when somebody looks at them."""

    def __init__(self, rows: StoredRows, sources: Sequence[tuple[PackedSource, State]]) -> None:
        self._rows = rows
        self._sources = sources

    def __len__(self) -> int:
        return sum(source.stop - source.start for source, _ in self._sources)

    def __iter__(self) -> Iterator[Entry]:
        for source, state in self._sources:
            yield from self._rows.between(source.start, source.stop, state)

    def __getitem__(self, place: int) -> Entry:  # type: ignore[override] - no slices
        return list(self)[place]


class StoredSources:
    """The sources that are looked up in a pack. For whoever changes the pool alone."""

    def __init__(self) -> None:
        self.pack: PoolPack | None = None
        self._states: list[State | None] = []
        self._settled: list[State | None] = []
        self._without: frozenset[int] = frozenset()
        self._touched: set[int] = set()
        self._taken: set[int] = set()

    def open(self, pack: PoolPack, states: Sequence[State | None] | None = None) -> StoredRows:
        """Look up sources in this pack from now on; those with a state are in the pool already."""
        self.pack = pack
        self._states = list(states or [None] * len(pack.sources))
        self._settled = list(self._states)
        self._without, self._touched, self._taken = frozenset(), set(), set()
        return StoredRows(pack, tuple(self._states))

    def put(self, number: int, state: State) -> None:
        """Have a source in this state."""
        self._states[number] = state
        self._touched.add(number)

    def remove(self, number: int) -> None:
        """Have a source no longer."""
        self._states[number] = None
        self._touched.add(number)

    def take(self, number: int) -> None:
        """Have a source no longer: its entries are in memory now."""
        self.remove(number)
        self._taken.add(number)

    def take_rows(self, number: int, rows: Iterable[int]) -> None:
        """Have some rows of a source no longer: their entries are in memory now."""
        self._without = self._without.union(rows)
        self._touched.add(number)

    def state(self, number: int) -> State | None:
        """The state of a source; None if it is not in the pool."""
        return self._states[number]

    def may_adopt(self, number: int) -> bool:
        """Whether a source that is not in the pool can be looked up here, with all its rows."""
        source = self._source(number)
        is_whole = self._without.isdisjoint(range(source.start, source.stop))
        return self._states[number] is None and is_whole

    def is_entangled(self, number: int) -> bool:
        """Whether the rows of a source have to be looked at one by one."""
        return self._source(number).is_entangled

    def listing(self, number: int) -> Listing:
        """What a source lists, in its state of now."""
        return self._listing(self._states[number], self.rows(number))

    def seen_listing(self, number: int, rows: Iterable[int] | None = None) -> Listing:
        """The same as of the last settlement: nothing if it was not in the pool then.

        All that it lists, or these `rows` alone.
        """
        return self._listing(self._settled[number], self.rows(number) if rows is None else rows)

    def rows(self, number: int) -> Sequence[int]:
        """The rows of a source that are here."""
        source = self._source(number)
        every = range(source.start, source.stop)
        return [row for row in every if row not in self._without] if self._without else every

    def rows_of(self, number: int, origins: Iterable[Origin]) -> Sequence[int]:
        """The rows of a source in which these lie, as far as they are here."""
        found = (self._pack.row_of(each.plain_name()) for each in origins)
        rows = (row for row in found if row is not None and row not in self._without)
        return [row for row in rows if self._pack.source_at(row) == number]

    def common_state(self, number: int, rows: Iterable[Listed]) -> State | None:
        """The state of a source of which these are rows; None if they have several from it."""
        at_source = AT_SOURCE.intersection(row.state for row in rows)
        if len(at_source) > 1:
            return None
        return min(at_source) if at_source else self._states[number]

    def is_packed(self, row: Listed, at_source: State) -> bool:
        """Whether the pack has just this row, held back just so, for a source in this state."""
        return (
            isinstance(row, StoredCapability)
            and row.pack is self.pack
            and row.row not in self._without
            and row.state == row.pack.state(row.row, at_source)
        )

    def has_bare(self, number: int, start: str) -> bool:
        """Whether the legal form of an own name of a source begins like this."""
        source = self._source(number)
        bares = self._pack.bares(source.start, source.stop)
        return any(allowed(bare).startswith(start) for bare in bares)

    def source_at(self, name: str) -> int | None:
        """The source in the pool that has a row of this name."""
        row = self.pack.row_of(name) if self.pack else None
        if self.pack is None or row is None or row in self._without:
            return None
        number = self.pack.source_at(row)
        return None if self._states[number] is None else number

    def new_sources(self) -> frozenset[int]:
        """Those that came since the last settlement."""
        return frozenset(n for n in self._touched if self._states[n] and not self._settled[n])

    def count(self, numbers: Iterable[int]) -> int:
        """How many rows some sources have."""
        sources = map(self._source, numbers)
        return sum(source.stop - source.start for source in sources)

    def names_of(self, numbers: Iterable[int]) -> Iterator[str]:
        """The names of all rows of some sources."""
        for source in map(self._source, sorted(numbers)):
            yield from self._pack.names(source.start, source.stop)

    def settle(self) -> StoredChange:
        """What came, went or changed its state since the last settlement."""
        if not self._touched:
            return StoredChange()
        rows = StoredRows(self._pack, (), self._without)
        came: list[tuple[PackedSource, State]] = []
        changed, gone, difference = list[Entry](), list[Entry](), 0
        for number in sorted(self._touched):
            source, was, state = self._source(number), self._settled[number], self._states[number]
            if state and not was:
                came.append((source, state))
                difference += source.print
            elif state and was:
                changed += rows.between(source.start, source.stop, state) if state != was else ()
            elif was and number not in self._taken:
                left = list(rows.between(source.start, source.stop, was))
                gone += left
                difference -= sum(entry_print(each.name, each.content) for each in left)
        changed = [each for each in changed if each.state in AT_SOURCE]
        restated = frozenset(each.name for each in changed)
        names = None if came else TableChange(restated.union(each.name for each in gone), restated)
        now = self._settle()
        added = AddedRows(now, came) if came else ()
        removed = {each.name: each for each in gone}
        return StoredChange(now, names, added, changed, removed, difference)

    def _settle(self) -> StoredRows:
        """All rows that are here from now on."""
        for number in self._touched:
            self._settled[number] = self._states[number]
            if self._states[number] is None and self._without:
                source = self._source(number)
                self._without = self._without.difference(range(source.start, source.stop))
        self._touched, self._taken = set(), set()
        return StoredRows(self._pack, tuple(self._states), self._without)

    @property
    def _pack(self) -> PoolPack:
        if self.pack is None:
            raise LookupError("no pack is open")
        return self.pack

    def _source(self, number: int) -> PackedSource:
        return self._pack.sources[number]

    def _listing(
        self, state: State | None, rows: Iterable[int]
    ) -> Mapping[Origin, StoredCapability]:
        if state is None:
            return {}
        pack = self._pack
        found = {row: pack.sources[pack.source_at(row)] for row in rows}
        return {
            Origin(source.kind, source.id, pack.bare(row)): StoredCapability(
                pack, row, pack.state(row, state)
            )
            for row, source in found.items()
        }
