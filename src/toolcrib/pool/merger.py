"""All sources put together: who lists what, who has which name, and what a change comes to.

Most sources of a large pool lie in a file, and nobody looks at their rows: they have their plain
names, and no other source shares their id or their names. Such a source is *stored*. The rows that
it lists otherwise later are taken into memory, where everything is decided row by row; all of its
rows are, as soon as there is a rival for one of its names. Either way the same entries come out.

Whoever changes the pool is alone here; what readers hold are tables, which never change.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from toolcrib.model import Entry, State
from toolcrib.names import (
    RESERVED_NAMES,
    NameBook,
    Origin,
    reserved_message,
)
from toolcrib.pool.entry_table import EntryTable
from toolcrib.pool.listing import AT_SOURCE, Listing, as_before
from toolcrib.pool.near_stems import NearStems
from toolcrib.pool.pool_pack import PoolPack
from toolcrib.pool.settlement import Settlement, news_of, print_difference
from toolcrib.pool.source_record import Place, RecordChange, SourceRecord
from toolcrib.pool.stored_entry import StoredRows
from toolcrib.pool.stored_sources import StoredSources
from toolcrib.sources import Source


class Merger:
    """The sources of a pool and what they list. Changes add up until they are settled."""

    def __init__(self) -> None:
        self.records: dict[int, SourceRecord] = {}
        self.left_out: dict[Origin, str] = {}
        self.fingerprint = 0
        self.stored = StoredSources()
        self._sources: dict[str, Source] = {}
        self._shown: Mapping[int, SourceRecord] = {}
        self._is_shown = True
        self._stored_sources: tuple[StoredRows | None, Mapping[int, SourceRecord]] = None, {}
        self._number = 0
        self._places: dict[Origin, Place] = {}
        self._names = NameBook(self._take_by_name)
        self._stems = NearStems()
        self._keys: dict[Origin, set[SourceRecord]] = {}
        self._at: dict[int, SourceRecord] = {}
        self._touched: dict[Origin, None] = {}
        self._taken: dict[str, Entry] = {}

    def add(self, source: Source) -> SourceRecord:
        """The record of a source; a new one for a source that is new."""
        record = self.records.get(id(source))
        if record is None:
            self._number += 1
            record = self.records[id(source)] = SourceRecord(source, self._number)
            self._stems.add(record.origin)
        return record

    def drop(self, source: Source) -> None:
        """Let a source go, with all that it lists."""
        record = self.records.pop(id(source), None)
        if record is None:
            return
        if record.stored is not None:
            self.stored.remove(self._leave_pack(record, record.stored))
        self._put(record, {})
        self._stems.remove(record.origin)

    def reserve(self, origins: Iterable[Origin]) -> None:
        """Count these as sources that are there, in place of those that were reserved before."""
        self._stems.reserve(origins)

    def adopt(self, record: SourceRecord, stored: int, state: State) -> None:
        """Have what the pack has of a source that is new, in the state of its source."""
        self.stored.put(stored, state)
        record.stored, self._at[stored], self._is_shown = stored, record, False
        self._count(record, {record.origin})
        if self.stored.is_entangled(stored) or len(self._keys[record.origin]) > 1:
            self._take(record)

    def restate(self, record: SourceRecord, state: State) -> None:
        """Have a source in another state; what it lists is as it was."""
        if record.stored is not None:
            self.stored.put(record.stored, state)
        if record.rows:
            self._put(record, {key: row.in_state(state) for key, row in record.rows.items()})

    def listing(self, record: SourceRecord) -> Listing:
        """What a source listed last, wherever it lies."""
        if record.stored is None:
            return record.rows
        return {**self.stored.listing(record.stored), **record.rows}

    def put(self, record: SourceRecord, rows: Listing) -> None:
        """Have this as what a source lists from now on."""
        at = record.stored
        state = None if at is None else self.stored.common_state(at, rows.values())
        if at is not None and state:
            others = {k: row for k, row in rows.items() if not self.stored.is_packed(row, state)}
            if 2 * len(others) <= len(rows) and record.owns(others):
                gone = [each for each in self.listing(record) if each not in rows]
                self.stored.put(at, state)
                self.change(record, others, gone)
                return
        self._take(record)
        self._put(record, rows)

    def change(self, record: SourceRecord, rows: Listing, gone: Collection[Origin] = ()) -> None:
        """Have these in place of what a source listed under the same origins; the rest stays."""
        if record.stored is not None and not record.owns(rows):
            self._take(record)
        if record.stored is not None:
            self._take_rows(record, record.stored, (*rows, *gone))
        new = {key: row for key, row in rows.items() if record.rows.get(key) is not row}
        left = [each for each in gone if each in record.rows]
        self._reclaim(record, record.change(new, left), new, left)

    def settle(self, before: EntryTable) -> Settlement:
        """The table with all that was changed since `before`."""
        for record in list(self._stems.stored_nearby(self._at.values(), self.stored)):
            self._take(record)
        self._take_wanted()
        renamed = self._names.settle()
        near = self._stems.origins_nearby(self.records.values())
        changes = self._replace(dict.fromkeys((*self._touched, *renamed, *near)))
        stored = self.stored.settle()
        self.fingerprint += print_difference(before, changes, stored)
        news = news_of(before, changes, stored)
        entries = before.changed(changes, stored.entries, stored.names, moved=self._taken)
        if stored.entries is not None:
            self._show(stored.entries)
        self._stems.settled()
        self._touched, self._taken = {}, {}
        return Settlement(entries, news)

    def source_of(self, name: str) -> Source | None:
        """Where the entry of this name comes from; None if there is no such entry."""
        if found := self._sources.get(name):
            return found
        rows, sources = self._stored_sources
        number = rows.source_at(name) if rows else None
        if number is not None:
            return sources[number].source
        return self._sources.get(name)  # it may have been taken into memory just now

    def is_alone(self, record: SourceRecord) -> bool:
        """Whether all that a source lists is of its own id, and nobody else lists such."""
        return record.is_uniform and len(self._keys.get(record.origin, ())) <= 1

    def entry_of(self, origin: Origin) -> Entry | None:
        """The entry of an origin whose row is in memory; None if it is left out."""
        return self._places[origin].entry

    def entries_in_memory(self) -> Iterator[Entry]:
        """The entries of all rows in memory."""
        return (place.entry for place in self._places.values() if place.entry)

    def state_of(self, record: SourceRecord) -> State | None:
        """The state that all rows of a source have from it; None if they have several."""
        states: set[State] = {r.state for r in record.rows.values() if r.state in AT_SOURCE}
        if record.stored is not None and (state := self.stored.state(record.stored)):
            states.add(state)
        return states.pop() if len(states) == 1 else None

    def go_over(
        self, before: EntryTable, pack: PoolPack, numbers: Mapping[SourceRecord, int]
    ) -> EntryTable:
        """Look these sources up in another pack from now on; the same entries come out.

        Each has these numbers there, and lists what it has there, in one state. What else is
        looked up in the pack of before is taken into memory.
        """
        for record in [each for each in self._at.values() if each not in numbers]:
            self._take(record)
        states: list[State | None] = [None] * len(pack.sources)
        for record, number in numbers.items():
            states[number] = self.state_of(record)
        self._at = {number: record for record, number in numbers.items()}
        self._is_shown, self._taken = False, {}
        rows = self.stored.open(pack, states)
        self._show(rows)
        for record, number in numbers.items():
            for origin in record.rows:
                self._forget(origin)
            record.list({})
            record.stored = number
            self._count(record, record.keys)
        return before.moved(rows, {each.name: each for each in self.entries_in_memory()})

    def _show(self, rows: StoredRows) -> None:
        """Let readers find the sources of these rows, all of one moment."""
        if not self._is_shown:
            self._shown = dict(self._at)
        self._is_shown, self._stored_sources = True, (rows, self._shown)

    def _forget(self, origin: Origin) -> None:
        """Let go of a row in memory that is looked up in the pack from now on."""
        if entry := self._places.pop(origin).entry:
            self._names.leave(origin, entry.name)
            self._sources.pop(entry.name, None)

    def _put(self, record: SourceRecord, rows: Listing) -> None:
        """Have these rows in memory as all those of a record."""
        before = record.rows
        new = [key for key, row in rows.items() if before.get(key) is not row]
        gone = [key for key in before if key not in rows]
        self._reclaim(record, record.list(rows), new, gone)

    def _reclaim(
        self,
        record: SourceRecord,
        change: RecordChange,
        new: Collection[Origin],
        gone: Collection[Origin],
    ) -> None:
        """Count a record among those that list the new ones, and out where it lists no more."""
        self._uncount(record, change.keys_gone)
        self._count(record, record.keys)
        for origin in gone:
            self._unclaim(origin, record)
        for origin in set(record.rows).difference(new) if change.is_ranked_anew else ():
            self._unclaim(origin, record)
            self._claim(origin, record)
        for origin in new:
            self._claim(origin, record)

    def _claim(self, origin: Origin, record: SourceRecord) -> None:
        place = self._places.setdefault(origin, Place())
        place.claim(record)
        self._touched[origin] = None
        if not origin.prefix and origin.own_name in RESERVED_NAMES:
            self.left_out[origin] = _refused(origin, place.claims[0].source)
        else:
            self._names.put(origin)

    def _unclaim(self, origin: Origin, record: SourceRecord) -> None:
        place = self._places[origin]
        place.unclaim(record)
        self._touched[origin] = None
        if not place.claims:
            self._names.drop(origin)
            self.left_out.pop(origin, None)

    def _count(self, record: SourceRecord, keys: Iterable[Origin]) -> None:
        """Note whose ids a record lists; a stored one that shares an id is taken into memory."""
        for key in keys:
            holders = self._keys.setdefault(key, set())
            holders.add(record)
            for each in tuple(holders) if len(holders) > 1 else ():
                if each is not record and each.stored is not None:
                    self._take(each)

    def _uncount(self, record: SourceRecord, keys: Iterable[Origin]) -> None:
        for key in keys:
            self._keys[key].discard(record)
            if not self._keys[key]:
                del self._keys[key]

    def _take(self, record: SourceRecord) -> None:
        """Take all rows of a source into memory; entries that were there stay there."""
        if record.stored is None:
            return
        at, others = self._leave_pack(record, record.stored), record.rows
        seen = self.stored.seen_listing(at)
        now = {key: as_before(row, seen.get(key)) for key, row in self.stored.listing(at).items()}
        self.stored.take(at)
        self._have_seen(record, seen)
        self._put(record, {**others, **now})

    def _take_rows(self, record: SourceRecord, at: int, origins: Iterable[Origin]) -> None:
        """Take some rows of a stored source into memory, as they were."""
        rows = self.stored.rows_of(at, origins)
        self._have_seen(record, self.stored.seen_listing(at, rows))
        self.stored.take_rows(at, rows)

    def _have_seen(self, record: SourceRecord, seen: Listing) -> None:
        """Have rows in memory that were looked up in the pack so far."""
        for origin, row in seen.items():
            place = self._places[origin] = Place()
            place.claims, place.listed = record.alone, row
            place.entry = entry = row.entry(origin.plain_name(), ())
            self._names.enter(origin, entry.name)
            self._taken[entry.name] = entry
            self._sources[entry.name] = record.source
        record.rows = {**record.rows, **seen}

    def _leave_pack(self, record: SourceRecord, number: int) -> int:
        """Look a source up in the pack no longer; the number that it has there."""
        del self._at[number]
        record.stored, self._is_shown = None, False
        return number

    def _take_by_name(self, name: str) -> None:
        """Take the stored source that has an entry of a name that another origin wants."""
        at = self.stored.source_at(name)
        if at is not None:
            self._take(self._at[at])

    def _take_wanted(self) -> None:
        """Take those of the newly stored sources that have a name which is in use in memory."""
        names, new = self._names, self.stored.new_sources()
        if self.stored.count(new) <= len(names):
            wanted = (name for name in self.stored.names_of(new) if name in names)
        else:
            wanted = iter(names.every_name()) if new else iter(())
        for at in new.intersection({self.stored.source_at(name) for name in tuple(wanted)}):
            self._take(self._at[at])

    def _replace(self, dirty: Iterable[Origin]) -> Mapping[str, Entry | None]:
        """Make the entries of these origins anew; what is otherwise now, by name."""
        gone: dict[str, None] = {}
        new: dict[str, Entry] = {}
        sources: dict[str, Source] = {}
        for origin in dirty:
            place = self._places[origin]
            before, place.entry = place.entry, self._entry(origin, place)
            if before and (place.entry is None or place.entry.name != before.name):
                gone[before.name] = None
            if place.entry:
                sources[place.entry.name] = place.claims[0].source
                if place.entry is not before:
                    new[place.entry.name] = place.entry
            if not place.claims:
                del self._places[origin]
        for name in gone:
            self._sources.pop(name, None)
        self._sources.update(sources)
        return {**gone, **new}

    def _entry(self, origin: Origin, place: Place) -> Entry | None:
        """The entry of a place: the one that was there, if nothing has changed."""
        name = self._names.names.get(origin)
        if not place.claims or name is None:
            place.listed = None
            return None
        before, listed = place.entry, place.claims[0].rows[origin]
        near = self._stems.overlaps(origin)
        was, place.listed = place.listed, listed
        if before and was is listed and (before.name, before.overlaps) == (name, near):
            return before
        return listed.entry(name, near)


def _refused(origin: Origin, source: Source) -> str:
    """Why a tool is left out."""
    whose = ":".join(filter(None, (source.kind, source.id)))
    return f"{whose}: {reserved_message(origin.own_name)}"
