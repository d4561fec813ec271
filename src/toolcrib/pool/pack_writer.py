"""Writes a pool pack, row by row: no more than one definition is in memory for it at a time."""

import json
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from toolcrib.model import Entry, JsonObject, State
from toolcrib.names import Origin
from toolcrib.pool.definition_codec import encode_card, encode_definition, traits_number
from toolcrib.pool.entries import entry_print
from toolcrib.pool.listing import AT_SOURCE, GivenCapability, Listed, as_stamped
from toolcrib.pool.merger import Merger
from toolcrib.pool.pack_columns import (
    ItemWriter,
    hash_sections,
    name_sections,
    text_sections,
    written_later,
)
from toolcrib.pool.pool_pack import KIND, PIN_BYTES, STATES, VERSION, PoolPack, RawRow
from toolcrib.pool.source_record import SourceRecord
from toolcrib.pool.stored_entry import StoredCapability
from toolcrib.store import write_pack

PlannedRow: TypeAlias = tuple[str, str, Listed]
"""The name, the own name and the rest."""


BETWEEN_PAUSES = 50
"""So many entries are written from one pause to the next: two milliseconds of work."""


class PlannedSource(NamedTuple):
    """A source as it is written.

    `stored` and `edition`, those of its record, tell whether it still lists the same.
    """

    record: SourceRecord
    summary: JsonObject
    rows: Collection[PlannedRow]
    stored: int | None
    edition: object
    is_entangled: bool
    stamp: str


class PackedListing(Collection[PlannedRow]):
    """Rows of a source of an older pack, read one by one."""

    def __init__(self, pack: PoolPack, rows: Sequence[int], state: State) -> None:
        self._pack = pack
        self._rows = rows
        self._state: State = state

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row: object) -> bool:
        return any(row == each for each in self)

    def __iter__(self) -> Iterator[PlannedRow]:
        pack = self._pack
        for row in self._rows:
            listed = StoredCapability(pack, row, pack.state(row, self._state))
            yield pack.name(row), pack.bare(row), listed


class FactMaker(NamedTuple):
    """What somebody wants to know of an entry without its definition: a text that many share."""

    version: str
    make: Callable[[Entry], str]


class PackPlan:
    """What a pool is at one moment, to be written. Made by `Pool.pack_plan`.

    What has no stamp is not written. `pack` is the one that some of it is looked up in.
    """

    def __init__(
        self, fingerprint: str, sources: Sequence[PlannedSource], pack: PoolPack | None
    ) -> None:
        self.fingerprint = fingerprint
        self.pack = pack
        self.sources = sources

    @property
    def size(self) -> int:
        """How many entries are written."""
        return sum(len(source.rows) for source in self.sources)

    def write(
        self,
        path: Path,
        key: bytes,
        facts: FactMaker | None = None,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """Put it in the place of the file. Takes its time, and needs nobody to wait.

        `facts` makes a text of an entry, which is written with it. `pause` is called after some
        entries each, by whoever wants to leave others their turn. Raises `OSError`, and
        `PackDamaged` if what it takes over from the old file is damaged.
        """
        version = facts.version if facts else ""
        header = {"version": VERSION, "fingerprint": self.fingerprint, "facts_version": version}
        write_pack(path, KIND, header, _Columns(self, facts, pause).sections(), key)


class _Columns:
    """The columns of a pack; most of them fill while the definitions are written."""

    def __init__(self, plan: PackPlan, facts: FactMaker | None, pause: Callable[[], None]) -> None:
        self._plan = plan
        self._pause = pause
        self._maker = facts
        self._facts, self._texts = array("I"), dict[str, int]()
        self._prints: list[int] = []
        self._traits, self._row_sources, self._held = array("I"), array("I"), bytearray()
        self._pins, self._contents = bytearray(), bytearray()

    def sections(self) -> dict[str, Iterable[bytes]]:
        """All sections, in the order in which they can be written."""
        names = [name for source in self._plan.sources for name, _, _ in source.rows]
        bares = [bare for source in self._plan.sources for _, bare, _ in source.rows]
        texts = name_sections("names", names) | text_sections("bares", bares)
        columns = {
            "traits": self._traits,
            "row_sources": self._row_sources,
            "held": self._held,
            "pins": self._pins,
            "contents": self._contents,
            "facts": self._facts,
        }
        return {
            **ItemWriter("cards", map(_raw_card, self._listed())).sections,
            **ItemWriter("definitions", self._definitions()).sections,
            **{name: written_later(column) for name, column in columns.items()},
            **{name: (each,) for name, each in (texts | hash_sections("bares", bares)).items()},
            "sources": self._source_table(),
            "fact_texts": self._fact_texts(),
        }

    def _listed(self) -> Iterator[Listed]:
        return (listed for source in self._plan.sources for _, _, listed in source.rows)

    def _definitions(self) -> Iterator[bytes]:
        for number, source in enumerate(self._plan.sources):
            total = 0
            for name, _, listed in source.rows:
                row = _raw(listed)
                self._note(number, row, listed)
                self._facts.append(self._fact_number(name, listed))
                total += entry_print(name, row.content.hex())
                if len(self._facts) % BETWEEN_PAUSES == 0:
                    self._pause()
                yield row.definition
            self._prints.append(total)

    def _note(self, number: int, row: RawRow, listed: Listed) -> None:
        self._row_sources.append(number)
        self._traits.append(row.traits)
        self._held.append(0 if listed.state in AT_SOURCE else STATES.index(listed.state) + 1)
        self._pins += row.pin
        self._contents += row.content

    def _fact_number(self, name: str, listed: Listed) -> int:
        """The number of the text of its facts; of what has them already they are not made again."""
        maker = self._maker
        if maker is None:
            return 0
        if isinstance(listed, StoredCapability) and listed.pack.facts_version == maker.version:
            text = listed.pack.fact(listed.row)
        else:
            text = maker.make(listed.entry(name, ()))
        return self._texts.setdefault(text, len(self._texts))

    def _fact_texts(self) -> Iterator[bytes]:
        yield json.dumps(list(self._texts)).encode()

    def _source_table(self) -> Iterator[bytes]:
        start, table = 0, list[Sequence[object]]()
        for source, number in zip(self._plan.sources, self._prints, strict=True):
            origin, stop = source.record.origin, start + len(source.rows)
            what = origin.prefix, origin.source_id, source.stamp, source.summary
            table.append([*what, start, stop, f"{number:x}", source.is_entangled])
            start = stop
        yield json.dumps(table).encode()


def plan_pack(merger: Merger) -> PackPlan:
    """What the sources of a pool are now; those without a stamp are not written."""
    planned = [each for record in merger.records.values() if (each := _planned(merger, record))]
    return PackPlan(f"{merger.fingerprint:x}", planned, merger.stored.pack)


def _planned(merger: Merger, record: SourceRecord) -> PlannedSource | None:
    stamped, stamp = as_stamped(record.source), record.stamp
    if not stamped or not merger.is_alone(record) or not stamp or stamped.stamp() != stamp:
        return None
    entries = {origin: merger.entry_of(origin) for origin in record.rows}
    if not all(len(entry.pin) == 2 * PIN_BYTES for entry in entries.values() if entry):
        return None
    plain = all(e and (e.name, e.overlaps) == (o.plain_name(), ()) for o, e in entries.items())
    return PlannedSource(
        record,
        stamped.summary(),
        _planned_rows(merger, record, entries),
        record.stored,
        record.edition,
        is_entangled=not plain,
        stamp=stamp,
    )


def _planned_rows(
    merger: Merger, record: SourceRecord, entries: Mapping[Origin, Entry | None]
) -> Collection[PlannedRow]:
    """Those that lie in the pack of now, and those in memory."""
    pack, number = merger.stored.pack, record.stored
    in_memory = [(e.name, e.bare, record.rows[origin]) for origin, e in entries.items() if e]
    if pack is None or number is None:
        return in_memory
    state = merger.stored.state(number) or "asleep"
    packed = PackedListing(pack, merger.stored.rows(number), state)
    return [*packed, *in_memory] if in_memory else packed


def _raw_card(listed: Listed) -> bytes:
    """What is written of a capability for lists."""
    match listed:
        case GivenCapability(given=given):
            return encode_card(given)
        case StoredCapability(pack=pack, row=row):
            return pack.raw_card(row)
        case _:
            raise TypeError(f"{type(listed).__name__} cannot be written")


def _raw(listed: Listed) -> RawRow:
    """What is written of a capability."""
    match listed:
        case GivenCapability(given=given):
            return RawRow(
                traits_number(listed.entry(given.name, ())),
                bytes.fromhex(given.pin),
                bytes.fromhex(listed.content),
                encode_definition(given),
            )
        case StoredCapability(pack=pack, row=row):
            return pack.raw(row)
        case _:
            raise TypeError(f"{type(listed).__name__} cannot be written")
