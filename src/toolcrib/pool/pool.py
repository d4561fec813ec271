"""All capabilities, once each: sources merged, named, with their states."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from toolcrib.errors import ToolcribError, UnknownTool
from toolcrib.model import Answer, Entry, SourceKind
from toolcrib.names import Origin
from toolcrib.pool.entry_table import EntryTable
from toolcrib.pool.events import TOOLS_UPDATED, EventBus, ToolsUpdated
from toolcrib.pool.listing import list_stamped, stamp_of
from toolcrib.pool.merger import Merger
from toolcrib.pool.resolver import entry_names
from toolcrib.sources import SleepingSource, Source, StampedSource


class Pool:
    """`entries` is replaced whole by each refresh: whoever holds it sees one moment.

    So is `names`, by which they are found. A change costs what it touches.
    """

    def __init__(self) -> None:
        self.events = EventBus()
        self.entries = EntryTable.empty()
        self.names = entry_names(self.entries)
        self._merger = Merger()

    @property
    def fingerprint(self) -> str:
        """The same for the same names and fields, whatever order they came in; else another."""
        return f"{self._merger.fingerprint:x}"

    @property
    def problems(self) -> tuple[str, ...]:
        """What the sources that are here say is wrong with them now, each once.

        And which of their tools are left out: those with a name of ours.
        """
        sources = [record.source for record in tuple(self._merger.records.values())]
        reported = (each for source in sources for each in source.problems)
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

    def _settle(self) -> ToolsUpdated:
        self.entries, news = self._merger.settle(self.entries)
        self.names = entry_names(self.entries)
        if news:
            self.events.publish(TOOLS_UPDATED, news)
        return news

    def _list(self, source: Source) -> None:
        """List a source, if it may list anything else than it did; else look at its state alone."""
        merger, stamp = self._merger, stamp_of(source)
        record = merger.records.get(id(source))
        if record and stamp and stamp == record.stamp and isinstance(source, StampedSource):
            merger.restate(record, source.state_of_all())
            return
        stamp, rows = list_stamped(source, merger.listing(record) if record else {})
        record = merger.add(source)
        record.stamp = stamp
        merger.put(record, rows)


def warm_up_best(pool: Pool, found: Answer) -> None:
    """Start what sleeps behind the best hit, while whoever asked reads the answer."""
    if found and found[0].state == "asleep":
        with suppress(UnknownTool):  # it was taken away meanwhile
            source = pool.source_of(found[0].name)
            if isinstance(source, SleepingSource):
                source.warm_up()
