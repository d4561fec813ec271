"""Which sources of a pool pack are in the pool, each in which state, and what changed of that."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from toolcrib.model import Entry, State
from toolcrib.names import Origin, allowed
from toolcrib.pool.listing import AT_SOURCE, Listing
from toolcrib.pool.pool_pack import PackedSource, PoolPack
from toolcrib.pool.stored_entry import StoredCapability, StoredRows


class StoredChange(NamedTuple):
    """What a settlement changed of the stored entries; `names` is None if that is too many."""

    entries: StoredRows | None = None
    names: Collection[str] | None = ()
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
        self._touched: set[int] = set()
        self._taken: set[int] = set()

    def open(self, pack: PoolPack, states: Sequence[State | None] | None = None) -> StoredRows:
        """Look up sources in this pack from now on; those with a state are in the pool already."""
        self.pack = pack
        self._states = list(states or [None] * len(pack.sources))
        self._settled = list(self._states)
        self._touched, self._taken = set(), set()
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

    def state(self, number: int) -> State | None:
        """The state of a source; None if it is not in the pool."""
        return self._states[number]

    def is_entangled(self, number: int) -> bool:
        """Whether the rows of a source have to be looked at one by one."""
        return self._source(number).is_entangled

    def listing(self, number: int) -> Listing:
        """What a source lists, in its state of now."""
        return self._listing(number, self._states[number])

    def seen_listing(self, number: int) -> Listing:
        """The same as of the last settlement: nothing if it was not in the pool then."""
        return self._listing(number, self._settled[number])

    def common_state(self, number: int, rows: Listing) -> State | None:
        """The state of a source that lists just what the pack has of it, held back just so.

        None if it lists anything else.
        """
        here, pack = self.listing(number), self._pack
        if here.keys() != rows.keys():
            return None
        at_source = AT_SOURCE.intersection(row.state for row in rows.values())
        state = min(at_source) if at_source else self._states[number]
        if state is None or len(at_source) > 1:
            return None
        same = (
            isinstance(row, StoredCapability) and row.state == pack.state(row.row, state)
            for row in rows.values()
        )
        return state if all(same) else None

    def has_bare(self, number: int, start: str) -> bool:
        """Whether the legal form of an own name of a source begins like this."""
        source = self._source(number)
        bares = self._pack.bares(source.start, source.stop)
        return any(allowed(bare).startswith(start) for bare in bares)

    def source_at(self, name: str) -> int | None:
        """The source in the pool that has a row of this name."""
        row = self.pack.row_of(name) if self.pack else None
        if self.pack is None or row is None:
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
        before, now = (
            StoredRows(self._pack, tuple(each)) for each in (self._settled, self._states)
        )
        came: list[tuple[PackedSource, State]] = []
        changed, gone, difference = list[Entry](), list[Entry](), 0
        for number in sorted(self._touched):
            source, was, state = self._source(number), self._settled[number], self._states[number]
            if state and not was:
                came.append((source, state))
                difference += source.print
            elif state and was:
                changed += now.between(source.start, source.stop, state) if state != was else ()
            elif was and number not in self._taken:
                gone += before.between(source.start, source.stop, was)
                difference -= source.print
        self._settled, self._touched, self._taken = list(self._states), set(), set()
        changed = [each for each in changed if each.state in AT_SOURCE]
        names = None if came else [each.name for each in (*changed, *gone)]
        added = AddedRows(now, came) if came else ()
        removed = {each.name: each for each in gone}
        return StoredChange(now, names, added, changed, removed, difference)

    @property
    def _pack(self) -> PoolPack:
        if self.pack is None:
            raise LookupError("no pack is open")
        return self.pack

    def _source(self, number: int) -> PackedSource:
        return self._pack.sources[number]

    def _listing(self, number: int, state: State | None) -> Mapping[Origin, StoredCapability]:
        if state is None:
            return {}
        pack, source = self._pack, self._source(number)
        return {
            Origin(source.kind, source.id, bare): StoredCapability(
                pack, row, pack.state(row, state)
            )
            for row, bare in enumerate(pack.bares(source.start, source.stop), source.start)
        }
