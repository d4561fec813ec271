"""All sources put together: who lists what, who has which name, and what a change comes to.

Most sources of a large pool lie in a file, and nobody looks at their rows: they have their plain
names, and no other source shares their id or their names. Such a source is *stored*. As soon as
something touches one of its rows, a rival for a name or another list, the rows of that source are
taken into memory, where everything is decided row by row. Either way the same entries come out.

Whoever changes the pool is alone here; what readers hold are tables, which never change.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from toolcrib.model import Entry, State
from toolcrib.names import (
    RESERVED_NAMES,
    NameBook,
    Origin,
    SourceStems,
    prefixes,
    reserved_message,
)
from toolcrib.pool.entry_table import EntryTable
from toolcrib.pool.listing import AT_SOURCE, Listing
from toolcrib.pool.pool_pack import PoolPack
from toolcrib.pool.settlement import Settlement, news_of, print_difference
from toolcrib.pool.source_record import Place, SourceRecord
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
        self._stored_sources: tuple[StoredRows | None, Mapping[int, Source]] = None, {}
        self._number = 0
        self._places: dict[Origin, Place] = {}
        self._names = NameBook(self._take_by_name)
        self._stems = SourceStems()
        self._reserved: tuple[Origin, ...] = ()
        self._keys: dict[Origin, set[SourceRecord]] = {}
        self._at: dict[int, SourceRecord] = {}
        self._touched: dict[Origin, None] = {}
        self._stems_touched: dict[str, None] = {}
        self._taken: dict[str, Entry] = {}

    def add(self, source: Source) -> SourceRecord:
        """The record of a source; a new one for a source that is new."""
        record = self.records.get(id(source))
        if record is None:
            self._number += 1
            record = self.records[id(source)] = SourceRecord(source, self._number)
            self._stems.add(record.origin)
            self._stems_touched[record.origin.stem] = None
        return record

    def drop(self, source: Source) -> None:
        """Let a source go, with all that it lists."""
        record = self.records.pop(id(source), None)
        if record is None:
            return
        if record.stored is not None:
            self.stored.remove(self._leave_pack(record))
        self._put(record, {})
        self._stems.remove(record.origin)
        self._stems_touched[record.origin.stem] = None

    def reserve(self, origins: Iterable[Origin]) -> None:
        """Count these as sources that are there, in place of those that were reserved before."""
        before, self._reserved = self._reserved, tuple(origins)
        for each in self._reserved:
            self._stems.add(each)
        for each in before:
            self._stems.remove(each)
        self._stems_touched |= dict.fromkeys(each.stem for each in (*before, *self._reserved))

    def adopt(self, record: SourceRecord, stored: int, state: State) -> None:
        """Have what the pack has of a source that is new, in the state of its source."""
        self.stored.put(stored, state)
        record.stored, self._at[stored] = stored, record
        self._count(record, {record.origin})
        if self.stored.is_entangled(stored) or len(self._keys[record.origin]) > 1:
            self._take(record)

    def restate(self, record: SourceRecord, state: State) -> None:
        """Have a source in another state; what it lists is as it was."""
        if record.stored is None:
            self._put(record, {key: row.in_state(state) for key, row in record.rows.items()})
        else:
            self.stored.put(record.stored, state)

    def listing(self, record: SourceRecord) -> Listing:
        """What a source listed last, wherever it lies."""
        return record.rows if record.stored is None else self.stored.listing(record.stored)

    def put(self, record: SourceRecord, rows: Listing) -> None:
        """Have this as what a source lists from now on."""
        if record.stored is not None:
            if state := self.stored.common_state(record.stored, rows):
                self.stored.put(record.stored, state)
                return
            self._take(record)
        self._put(record, rows)

    def settle(self, before: EntryTable) -> Settlement:
        """The table with all that was changed since `before`."""
        self._take_near_stems()
        self._take_wanted()
        renamed = self._names.settle()
        near = self._near_touched_stems()
        changes = self._replace(dict.fromkeys((*self._touched, *renamed, *near)))
        stored = self.stored.settle()
        self.fingerprint += print_difference(before, changes, stored)
        news = news_of(before, changes, stored)
        entries = before.changed({**self._taken, **changes}, stored.entries, stored.names)
        if stored.entries is not None:
            self._show(stored.entries)
        self._touched, self._stems_touched, self._taken = {}, {}, {}
        return Settlement(entries, news)

    def source_of(self, name: str) -> Source | None:
        """Where the entry of this name comes from; None if there is no such entry."""
        if found := self._sources.get(name):
            return found
        rows, sources = self._stored_sources
        number = rows.source_at(name) if rows else None
        if number is not None:
            return sources[number]
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
        if record.stored is not None:
            return self.stored.state(record.stored)
        states: set[State] = {r.state for r in record.rows.values() if r.state in AT_SOURCE}
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
        self._taken = {}
        rows = self.stored.open(pack, states)
        self._show(rows)
        for record, number in numbers.items():
            for origin in record.rows:
                self._forget(origin)
            record.list({})
            record.stored, record.keys = number, frozenset({record.origin})
            self._count(record, record.keys)
        return before.moved(rows, {each.name: each for each in self.entries_in_memory()})

    def _show(self, rows: StoredRows) -> None:
        """Let readers find the sources of these rows, all of one moment."""
        self._stored_sources = rows, {number: each.source for number, each in self._at.items()}

    def _forget(self, origin: Origin) -> None:
        """Let go of a row in memory that is looked up in the pack from now on."""
        if entry := self._places.pop(origin).entry:
            self._names.leave(origin, entry.name)
            self._sources.pop(entry.name, None)

    def _put(self, record: SourceRecord, rows: Listing) -> None:
        """Have these rows in memory as those of a record."""
        before, was_packaged = record.rows, record.is_packaged
        self._uncount(record, record.list(rows))
        self._count(record, record.keys)
        moved = before and record.is_packaged != was_packaged
        for origin in [each for each in before if moved or each not in rows]:
            self._unclaim(origin, record)
        for origin, row in rows.items():
            if moved or before.get(origin) is not row:
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
        """Take the rows of a stored source into memory; entries that were there stay there."""
        at = self._leave_pack(record)
        now, seen = self.stored.listing(at), self.stored.seen_listing(at)
        self.stored.take(at)
        for origin, row in seen.items():
            place = self._places[origin] = Place()
            place.claims, place.listed = (record,), row
            place.entry = entry = row.entry(origin.plain_name(), ())
            self._names.enter(origin, entry.name)
            self._taken[entry.name] = entry
            self._sources[entry.name] = record.source
        record.rows = seen
        self._put(record, now)

    def _leave_pack(self, record: SourceRecord) -> int:
        """Look a source up in the pack no longer; the number that it has there."""
        [number] = [record.stored] if record.stored is not None else []
        del self._at[number]
        record.stored = None
        record.keys = frozenset({record.origin})
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

    def _take_near_stems(self) -> None:
        """Take the stored sources of which a name could be meant as one of another source."""
        if not self._at or not any(self._stems_touched):
            return
        by_stem = {each.origin.stem: each for each in self._at.values()}
        for touched in tuple(self._stems_touched):
            pairs = [(part, touched) for part in prefixes(touched)]
            pairs += [(touched, longer) for longer in self._stems.longer(touched)]
            for stem, other in pairs:
                record = by_stem.get(stem)
                if record and record.stored is not None and self._is_near(record, other):
                    self._take(record)

    def _is_near(self, record: SourceRecord, stem: str) -> bool:
        """Whether a name of a stored source may begin with the stem of another one."""
        own, at = record.origin.stem, record.stored
        if at is None or stem == own:
            return self._stems.is_shared(own)
        return stem in self._stems and self.stored.has_bare(at, stem[len(own) :])

    def _near_touched_stems(self) -> Iterable[Origin]:
        """The origins in memory whose name may begin with a stem that came or went."""
        touched = frozenset(filter(None, self._stems_touched))
        parts = {part for stem in touched for part in prefixes(stem)}
        heads = tuple({stem.partition("_")[0] for stem in touched})
        for record in self.records.values() if touched else ():
            is_counted = [key in self._stems for key in record.keys]
            if not all(is_counted) or any(key.stem in parts for key in record.keys):
                yield from (each for each in record.rows if _begins(each, heads, touched))

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


def _begins(origin: Origin, heads: tuple[str, ...], stems: Collection[str]) -> bool:
    """Whether the name of an origin begins with one of the stems."""
    begins = (origin.prefix or origin.own_name).startswith(heads)
    return begins and any(part in stems for part in prefixes(origin.text))


def _refused(origin: Origin, source: Source) -> str:
    """Why a tool is left out."""
    whose = ":".join(filter(None, (source.kind, source.id)))
    return f"{whose}: {reserved_message(origin.own_name)}"
