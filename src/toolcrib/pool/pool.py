"""All capabilities, once each: sources merged, named, with their states."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple, TypeAlias

from toolcrib.errors import ToolcribError, UnknownTool
from toolcrib.model import Answer, Capability, Entry, SourceKind, State
from toolcrib.names import RESERVED_NAMES, NameStems, Origin, name_all, overlaps, reserved_message
from toolcrib.pool.entries import pin, remedy, state
from toolcrib.pool.entry_table import EntryTable
from toolcrib.pool.events import TOOLS_UPDATED, EventBus, ToolsUpdated
from toolcrib.pool.resolver import entry_names
from toolcrib.sources import SleepingSource, Source


class ListedCapability(NamedTuple):
    """A capability as its source gave it, with its pin, a hash of all its fields, and its state.

    A pin that the source made says nothing of fields that are ours: the permission, the hint.
    """

    given: Capability
    pinned: Capability
    content: str
    state: State


SourceListing: TypeAlias = Mapping[Origin, ListedCapability]


class NamedCapability(NamedTuple):
    """A listed capability, its source, and the stems of other sources that its name has too."""

    listed: ListedCapability
    source: Source
    overlaps: NameStems


class Pool:
    """`entries` is replaced whole by each refresh: whoever holds it sees one moment.

    So is `names`, by which they are found.
    """

    def __init__(self) -> None:
        self.events = EventBus()
        self.entries = EntryTable.empty()
        self.names = entry_names(self.entries)
        self._sources: Mapping[str, Source] = {}
        self._reserved: tuple[Origin, ...] = ()
        self._listed: dict[int, tuple[Source, SourceListing]] = {}
        self._contents: Mapping[str, str] = {}
        self._fingerprint = 0
        self._left_out: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The same for the same names and fields, whatever order they came in; else another."""
        return f"{self._fingerprint:x}"

    @property
    def problems(self) -> tuple[str, ...]:
        """What the sources that are here say is wrong with them now, each once.

        And which of their tools are left out: those with a name of ours.
        """
        sources = [source for source, _ in tuple(self._listed.values())]
        reported = (each for source in sources for each in source.problems)
        return tuple(dict.fromkeys((*reported, *self._left_out)))

    def add(self, *sources: Source, instead_of: Iterable[Source] = ()) -> tuple[str, ...]:
        """Take sources in, and return what is wrong with those that cannot be listed.

        They stay out; what a source itself could not read is at `problems`. Those that they stand
        `instead_of` go in the same step: nobody sees the pool without either.
        """
        problems: list[str] = []
        for source in instead_of:
            self._listed.pop(id(source), None)
        for source in sources:
            try:
                self._list(source)
            except ToolcribError as error:
                problems.append(str(error))
        self._merge()
        return tuple(problems)

    def reserve(self, kind: SourceKind, ids: Iterable[str]) -> None:
        """Count these as sources that are there, though nothing is listed of them.

        So a name or a pattern that spells one of them out never falls to a neighbour.
        """
        self._reserved = tuple(Origin(kind, id, "") for id in ids)

    def remove(self, source: Source) -> ToolsUpdated:
        """Let a source go, with all that came from it."""
        self._listed.pop(id(source), None)
        return self._merge()

    def has(self, source: Source) -> bool:
        """Whether this very source is one of those that were taken in."""
        return id(source) in self._listed

    def refresh(self, source: Source) -> ToolsUpdated:
        """List one source again and publish what changed.

        Raises what the listing raises, and then what was there before stays.
        """
        self._list(source)
        return self._merge()

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
        if name not in self._sources:
            raise UnknownTool(f"{name!r} is not here any more; search for it again")
        return self._sources[name]

    def _merge(self) -> ToolsUpdated:
        before, contents, named = self.entries, self._contents, self._named()
        after = {name: self._entry(name, placed) for name, placed in named.items()}
        news = _difference(before, after)
        self.entries = before.changed(_changes(news))
        self._sources = {name: placed.source for name, placed in named.items()}
        self._contents = {name: placed.listed.content for name, placed in named.items()}
        self.names = entry_names(self.entries)
        if news:
            old = ((each.name, contents[each.name]) for each in (*news.changed, *news.removed))
            new = ((each.name, self._contents[each.name]) for each in (*news.added, *news.changed))
            self._fingerprint += sum(map(_print, new)) - sum(map(_print, old))
            self.events.publish(TOOLS_UPDATED, news)
        return news

    def _list(self, source: Source) -> None:
        """List a source anew; what it gives unchanged keeps its pin."""
        _, earlier = self._listed.get(id(source), (source, {}))
        self._listed[id(source)] = source, _listing(source, earlier)

    def _named(self) -> dict[str, NamedCapability]:
        """Every listed capability under its name; of two with one origin the first listed.

        What comes with Toolcrib gives way to a function of the same name.
        """
        by_origin: dict[Origin, tuple[ListedCapability, Source]] = {}
        first_counts = sorted(self._listed.values(), key=_is_packaged)
        for source, listing in reversed(first_counts):
            by_origin |= {origin: (listed, source) for origin, listed in listing.items()}
        taken = [origin for origin in by_origin if origin.plain_name() in RESERVED_NAMES]
        self._left_out = tuple(_refused(*by_origin.pop(origin)) for origin in taken)
        names = name_all(list(by_origin))
        sources = (_of(source) for source, _ in self._listed.values())
        near = overlaps(by_origin, (*self._reserved, *sources))
        return {
            names[origin]: NamedCapability(*found, near.get(origin, ()))
            for origin, found in by_origin.items()
        }

    def _entry(self, name: str, placed: NamedCapability) -> Entry:
        """The entry of a listed capability: the one that was there, if nothing has changed."""
        old, listed = self.entries.get(name), placed.listed
        now = listed.content, listed.pinned.pin, listed.state, placed.overlaps
        if old and (self._contents[name], old.capability.pin, old.state, old.overlaps) == now:
            return old
        capability = replace(listed.pinned, name=name)
        todo = remedy(listed.state, capability.source_id)
        return Entry(name, listed.given.name, capability, listed.state, todo, placed.overlaps)


def _is_packaged(listed: tuple[Source, SourceListing]) -> bool:
    """Whether it is the source of what comes with Toolcrib."""
    first = next(iter(listed[1].values()), None)
    return first is not None and first.given.packaged


def _refused(listed: ListedCapability, source: Source) -> str:
    """Why a tool is left out."""
    whose = ":".join(filter(None, (source.kind, source.id)))
    return f"{whose}: {reserved_message(listed.given.name)}"


def _of(source: Source) -> Origin:
    """A source as the origin of nothing."""
    prefix = source.kind if source.kind in ("mcp", "sdk") else ""
    return Origin(prefix, source.id or "" if prefix else "", "")


def _listing(source: Source, earlier: SourceListing) -> SourceListing:
    given = {Origin.of(each): each for each in source.capabilities()}
    return {
        origin: _listed(each, earlier.get(origin), source.state(each.name))
        for origin, each in given.items()
    }


def _listed(
    given: Capability, earlier: ListedCapability | None, at_source: State
) -> ListedCapability:
    now = state(given, at_source)
    if earlier and (earlier.given is given or earlier.given == given):
        return earlier._replace(state=now)
    content = pin(given)
    return ListedCapability(
        given, given if given.pin else replace(given, pin=content), content, now
    )


def _print(named: tuple[str, str]) -> int:
    """A number of a name and what is under it; a fingerprint is the sum of them."""
    return int.from_bytes(sha256(" ".join(named).encode()).digest())


def _difference(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> ToolsUpdated:
    return ToolsUpdated(
        added=tuple(entry for name, entry in after.items() if name not in before),
        changed=tuple(e for name, e in after.items() if name in before and e != before[name]),
        removed=tuple(entry for name, entry in before.items() if name not in after),
    )


def _changes(news: ToolsUpdated) -> dict[str, Entry | None]:
    gone: dict[str, Entry | None] = {entry.name: None for entry in news.removed}
    return gone | {entry.name: entry for entry in (*news.added, *news.changed)}


def warm_up_best(pool: Pool, found: Answer) -> None:
    """Start what sleeps behind the best hit, while whoever asked reads the answer."""
    if found and found[0].state == "asleep":
        with suppress(UnknownTool):  # it was taken away meanwhile
            source = pool.source_of(found[0].name)
            if isinstance(source, SleepingSource):
                source.warm_up()
