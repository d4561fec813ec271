"""Rows of a pool pack as what a source lists, and as entries of a table."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from toolcrib.model import (
    Capability,
    Defer,
    Entry,
    EntryTraits,
    JsonObject,
    Kind,
    NamedBy,
    PermissionKind,
    SourceKind,
    State,
)
from toolcrib.names import NameStems
from toolcrib.pool.definition_codec import Traits
from toolcrib.pool.entries import remedy, state
from toolcrib.pool.listing import AT_SOURCE, GivenCapability, content_of
from toolcrib.pool.pool_pack import PoolPack
from toolcrib.pool.stored_groups import RowColumns, StoredFactTexts

MOST_RECENT = 4_096
"""So many entries are remembered, without their definitions."""
_put = object.__setattr__


class StoredEntry(Entry):
    """An entry whose definition lies in a pool pack, and is read when somebody asks for it."""

    __slots__ = ("_bare", "_pack", "_row")
    _pack: PoolPack
    _row: int
    _bare: str

    def __init__(
        self, pack: PoolPack, row: int, name: str, state: State, overlaps: NameStems = ()
    ) -> None:
        _put(self, "name", name)
        _put(self, "state", state)
        _put(self, "overlaps", overlaps)
        _put(self, "_pack", pack)
        _put(self, "_row", row)

    def in_state(self, state: State) -> Entry:
        return StoredEntry(self._pack, self._row, self.name, state, self.overlaps)

    @property
    def bare(self) -> str:  # type: ignore[override] - a field of others
        try:
            return self._bare
        except AttributeError:
            _put(self, "_bare", self._pack.bare(self._row))
            return self._bare

    @property
    def capability(self) -> Capability:  # type: ignore[override] - a field of others
        return self._pack.definition(self._row, self.name)

    @property
    def remedy(self) -> str:  # type: ignore[override] - a field of others
        return remedy(self.state, self.source_id)

    @property
    def content(self) -> str:
        return self._pack.content(self._row)

    @property
    def pin(self) -> str:
        return self._pack.pin(self._row)

    @property
    def kind(self) -> Kind:
        return self._traits.kind

    @property
    def source(self) -> SourceKind:
        return self._pack.sources[self._pack.source_at(self._row)].kind

    @property
    def source_id(self) -> str | None:
        return self._pack.sources[self._pack.source_at(self._row)].id

    @property
    def module(self) -> str:
        return ""

    @property
    def permission_kind(self) -> PermissionKind:
        return self._traits.permission_kind

    @property
    def searchable(self) -> bool:
        return self._traits.searchable

    @property
    def packaged(self) -> bool:
        return self._traits.packaged

    @property
    def named_by(self) -> NamedBy:
        return self._traits.named_by

    @property
    def defer(self) -> Defer:
        return self._traits.defer

    @property
    def required(self) -> bool:
        return self._traits.required

    @property
    def asks_to_load(self) -> bool:
        return self._traits.asks_to_load

    @property
    def category(self) -> str:
        return self._card["category"]

    @property
    def tags(self) -> tuple[str, ...]:
        return self._card["tags"]

    @property
    def title(self) -> str:
        return self._card["title"]

    @property
    def description(self) -> str:
        return self._card["description"]

    @property
    def often_with(self) -> tuple[str, ...]:
        return self._card["often_with"]

    @property
    def desc(self) -> Mapping[str, str]:
        return self._pack.fields(self._row)["desc"] if self._traits.is_translated else {}

    @property
    def parameters(self) -> JsonObject | None:
        if self.kind != "tool":
            return None
        return self._pack.fields(self._row).get("parameters", {})

    @property
    def _traits(self) -> Traits:
        return self._pack.traits(self._row)

    @property
    def _card(self) -> Mapping[str, Any]:
        return self._pack.card(self._row)


class StoredCapability:
    """What a source lists, in a pool pack."""

    __slots__ = ("pack", "row", "state")

    def __init__(self, pack: PoolPack, row: int, state: State) -> None:
        self.pack = pack
        self.row = row
        self.state: State = state

    @property
    def content(self) -> str:
        return self.pack.content(self.row)

    @property
    def packaged(self) -> bool:
        return self.pack.traits(self.row).packaged

    @property
    def is_stored(self) -> bool:
        return True

    def entry(self, name: str, overlaps: NameStems) -> Entry:
        return StoredEntry(self.pack, self.row, name, self.state, overlaps)

    def listed_again(
        self, given: Capability, at_source: State
    ) -> "StoredCapability | GivenCapability":
        now, content = state(given, at_source), content_of(given)
        if (content, given.pin) != (self.content, self.pack.pin(self.row)):
            return GivenCapability(given, content, now)
        return self if now == self.state else StoredCapability(self.pack, self.row, now)

    def in_state(self, at_source: State) -> "StoredCapability":
        if self.state not in AT_SOURCE or self.state == at_source:
            return self
        return StoredCapability(self.pack, self.row, at_source)


class StoredRows:
    """The entries of the sources of a pack that are in the pool, in the states of their sources.

    `without` are rows that are not looked up here, though their source is.
    """

    def __init__(
        self, pack: PoolPack, states: Sequence[State | None], without: Collection[int] = ()
    ) -> None:
        self.pack = pack
        self._states = states
        self._without = without
        self._recent: dict[str, Entry | None] = {}

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        for start, stop, _ in self._parts():
            yield from (name for _, name in self._between(start, stop))

    def get(self, name: str, /) -> Entry | None:
        """The entry of a name, if its source is in the pool. A search asks for some many times."""
        recent = self._recent
        try:
            return recent[name]
        except KeyError:
            if len(recent) >= MOST_RECENT:
                recent.clear()
            found = recent[name] = self._find(name)
            return found

    def _find(self, name: str) -> Entry | None:
        pack = self.pack
        row = pack.row_of(name)
        if row is None or row in self._without:
            return None
        at_source = self._states[pack.source_at(row)]
        return at_source and StoredEntry(pack, row, name, pack.state(row, at_source))

    def source_at(self, name: str) -> int | None:
        """The number of the source of a name, if it is in the pool."""
        row = self._row_of(name)
        number = None if row is None else self.pack.source_at(row)
        return None if number is None or self._states[number] is None else number

    def values(self) -> Iterator[Entry]:
        """The entries in the order of their names here."""
        for start, stop, at_source in self._parts():
            yield from self.between(start, stop, at_source)

    def between(self, start: int, stop: int, at_source: State) -> Iterator[Entry]:
        """The entries of some rows of one source."""
        for row, name in self._between(start, stop):
            yield self._entry(row, name, at_source)

    def named(self, bare: str) -> Sequence[str]:
        """The names of those that have this bare name."""
        pack = self.pack
        rows = (row for row in pack.rows_named(bare) if self._states[pack.source_at(row)])
        return [pack.name(row) for row in rows if row not in self._without]

    def groups(self) -> Mapping[EntryTraits, Collection[str]]:
        """The names of all of them by their traits."""
        return self._columns.groups(tuple(self._states))

    def facts(self, version: str) -> StoredFactTexts | None:
        """The facts that were written of them; None if they are not of this version."""
        return self._columns.facts(version, tuple(self._states))

    @property
    def _columns(self) -> RowColumns:
        return RowColumns(self.pack, self._without)

    @cached_property
    def _length(self) -> int:
        return sum(stop - start for start, stop, _ in self._parts()) - len(self._without)

    def _row_of(self, name: str) -> int | None:
        row = self.pack.row_of(name)
        return None if row in self._without else row

    def _between(self, start: int, stop: int) -> Iterator[tuple[int, str]]:
        rows = enumerate(self.pack.names(start, stop), start)
        return (each for each in rows if each[0] not in self._without) if self._without else rows

    def _entry(self, row: int, name: str, at_source: State) -> Entry:
        return StoredEntry(self.pack, row, name, self.pack.state(row, at_source))

    def _parts(self) -> Iterator[tuple[int, int, State]]:
        for source, at_source in zip(self.pack.sources, self._states, strict=True):
            if at_source:
                yield source.start, source.stop, at_source
