"""All capabilities, once each: sources merged, named, with their states."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial

from toolcrib.errors import ToolcribError, UnknownTool
from toolcrib.model import Answer, Capability, Entry, SourceKind
from toolcrib.names import Origin
from toolcrib.pool.entry_table import EntryTable
from toolcrib.pool.events import TOOLS_UPDATED, EventBus, ToolsUpdated
from toolcrib.pool.listing import (
    as_stamped,
    content_of,
    list_changes,
    list_stamped,
    revision_of,
    stamp_of,
)
from toolcrib.pool.merger import Merger
from toolcrib.pool.pack_writer import PackPlan, PlannedSource, plan_pack
from toolcrib.pool.pool_pack import PoolPack
from toolcrib.pool.resolver import entry_names
from toolcrib.sources import SleepingSource, Source


class Pool:
    """`entries` is replaced whole by each refresh: whoever holds it sees one moment.

    So is `names`, by which they are found. A change costs what it touches. `is_damaged`: a
    definition in the pack could not be trusted; `leave_pack` is due.
    """

    def __init__(self) -> None:
        self.events = EventBus()
        self.entries = EntryTable.empty()
        self.names = entry_names(self.entries)
        self.is_damaged = False
        self._merger = Merger()
        self._pack: PoolPack | None = None

    @property
    def fingerprint(self) -> str:
        """The same for the same names and fields, whatever order they came in; else another."""
        return f"{self._merger.fingerprint:x}"

    @property
    def problems(self) -> tuple[str, ...]:
        """What the sources that are here say is wrong with them now, each once.

        And which of their tools are left out: those with a name of ours.
        """
        reported = (each for source in self.sources for each in source.problems)
        return tuple(dict.fromkeys((*reported, *self._merger.left_out.values())))

    def add(self, *sources: Source, instead_of: Iterable[Source] = ()) -> tuple[str, ...]:
        """Take sources in, and return what is wrong with those that cannot be listed.

        They stay out; what a source itself could not read is at `problems`. Those that they stand
        `instead_of` go in the same step: nobody sees the pool without either.
        """
        problems: list[str] = []
        for source in instead_of:
            self._merger.drop(source)
        for source in sources:
            try:
                self._list(source)
            except ToolcribError as error:
                problems.append(str(error))
        self._settle()
        return tuple(problems)

    def reserve(self, kind: SourceKind, ids: Iterable[str]) -> None:
        """Count these as sources that are there, though nothing is listed of them.

        So a name or a pattern that spells one of them out never falls to a neighbour. It counts
        from the next change on.
        """
        self._merger.reserve(Origin(kind, id, "") for id in ids)

    def remove(self, source: Source) -> ToolsUpdated:
        """Let a source go, with all that came from it."""
        self._merger.drop(source)
        return self._settle()

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources that are here, in the order in which they came."""
        return tuple(record.source for record in tuple(self._merger.records.values()))

    def has(self, source: Source) -> bool:
        """Whether this very source is one of those that were taken in."""
        return id(source) in self._merger.records

    def refresh(self, source: Source) -> ToolsUpdated:
        """List one source again and publish what changed.

        Raises what the listing raises, and then what was there before stays.
        """
        self._list(source)
        return self._settle()

    def resolve(self, name: str) -> Entry:
        """The entry of a name, or of a bare name that only one has.

        Raises `AmbiguousName` with the candidates, or `UnknownTool` with the nearest names.
        """
        return self.names.resolve(name)

    def candidates(self, name: str) -> Sequence[Entry]:
        """Every entry that a name may mean: the one that has it, else all with it as bare name."""
        return self.names.candidates(name)

    def source_of(self, name: str) -> Source:
        """Where the entry of this very name comes from. Raises `UnknownTool`."""
        source = self._merger.source_of(name)
        if source is None:
            raise UnknownTool(f"{name!r} is not here any more; search for it again")
        return source

    def adopt(self, pack: PoolPack) -> None:
        """Have what a pack has of the sources that are added from now on, if their stamps fit.

        Before the first source that has a stamp is added.
        """
        self._merger.stored.open(pack)
        self._have(pack)

    def pack_plan(self) -> PackPlan:
        """What the pool is now, to be written by whoever has the time."""
        return plan_pack(self._merger)

    def go_over(self, pack: PoolPack, plan: PackPlan) -> None:
        """Look up in a pack what was written to it by a plan of this pool, and is still so.

        Nothing changes but where the definitions lie, and the memory that they take.
        """
        merger = self._merger
        numbers = {
            each.record: number
            for number, each in enumerate(plan.sources)
            if self._is_as_planned(each, plan) and merger.state_of(each.record)
        }
        self.entries = merger.go_over(self.entries, pack, numbers)
        self.names = entry_names(self.entries)
        self._have(pack)

    @property
    def pack(self) -> PoolPack | None:
        """The pack that is adopted or gone over to; None if there is none, or it is damaged."""
        return self._pack

    def fits_pack(self) -> bool:
        """Whether the next start would find in the pack all that it could."""
        pack, records = self._pack, self._merger.records.values()
        if pack is None or pack.fingerprint != self.fingerprint:
            return False
        stamps = {(each.kind, each.id): each.stamp for each in pack.sources}
        return all(
            stamps.get((each.origin.prefix, each.origin.source_id)) == each.stamp
            for each in records
            if each.stamp
        )

    def leave_pack(self) -> None:
        """List again what was looked up in a pack, since that is damaged."""
        merger, self._pack = self._merger, None
        for record in [each for each in merger.records.values() if each.is_stored]:
            with suppress(ToolcribError):  # what was read of it fits its digests
                record.stamp, rows = list_stamped(record.source, {})
                merger.put(record, rows)
        self._settle()
        self.is_damaged = False

    def _have(self, pack: PoolPack) -> None:
        pack.mend = partial(self._mend, pack)
        self._pack = pack

    def _mend(self, pack: PoolPack, row: int) -> Capability:
        """What a row is that cannot be read, from its source. Raises `UnknownTool`."""
        self.is_damaged = True
        pack.set_aside()
        packed = pack.sources[pack.source_at(row)]
        records, key = tuple(self._merger.records.values()), (packed.kind, packed.id)
        sources = [each.source for each in records if each.origin[:2] == key]
        for given in (each for source in sources for each in source.capabilities()):
            if (given.name, content_of(given)) == (pack.bare(row), pack.content(row)):
                return given
        raise UnknownTool(f"{pack.name(row)!r} is not what it was any more; search for it again")

    def _is_as_planned(self, planned: PlannedSource, plan: PackPlan) -> bool:
        record, merger = planned.record, self._merger
        if merger.records.get(id(record.source)) is not record or planned.is_entangled:
            return False
        if record.stored != planned.stored or record.edition is not planned.edition:
            return False
        is_there = record.stored is None or merger.stored.pack is plan.pack
        return is_there and merger.is_alone(record)

    def _settle(self) -> ToolsUpdated:
        self.entries, news = self._merger.settle(self.entries)
        self.names = entry_names(self.entries)
        if news:
            self.events.publish(TOOLS_UPDATED, news)
        return news

    def _list(self, source: Source) -> None:
        """List a source, as far as it may list anything else than it did; else look at its state.

        Of a source that can tell what changed, nothing else is asked for.
        """
        merger, stamp = self._merger, stamp_of(source)
        record = merger.records.get(id(source))
        if record is None and self._adopts(source, stamp):
            return
        stamped = as_stamped(source)
        if record and stamped and stamp and stamp == record.stamp:
            merger.restate(record, stamped.state_of_all())
        elif record and (change := list_changes(source, record.revision)):
            if stamped:
                merger.restate(record, stamped.state_of_all())
            merger.change(record, change.rows, record.named(change.gone))
            record.stamp, record.revision = stamp, change.revision
        else:
            revision = revision_of(source)
            stamp, rows = list_stamped(source, merger.listing(record) if record else {})
            record = merger.add(source)
            record.stamp, record.revision = stamp, revision
            merger.put(record, rows)

    def _adopts(self, source: Source, stamp: str) -> bool:
        """Take a source in as the pack has it, if it says that it would list just that."""
        merger, pack = self._merger, self._pack
        number = pack.number_of(source.kind, source.id) if pack else None
        stamped = as_stamped(source)
        if pack is None or number is None or stamped is None:
            return False
        packed = pack.sources[number]
        if not stamp or packed.stamp != stamp or not merger.stored.may_adopt(number):
            return False
        stamped.adopt(packed.summary)
        record = merger.add(source)
        record.stamp = record.revision = stamp
        merger.adopt(record, number, stamped.state_of_all())
        return True


def warm_up_best(pool: Pool, found: Answer) -> None:
    """Start what sleeps behind the best hit, while whoever asked reads the answer."""
    if found and found[0].state == "asleep":
        with suppress(UnknownTool):  # it was taken away meanwhile
            source = pool.source_of(found[0].name)
            if isinstance(source, SleepingSource):
                source.warm_up()
