"""Entries in groups of like ones, so that nobody has to look at each of many.

Who may see or call an entry, and whether it waits for a search, is decided by a few traits: they
are the same for most tools of a server. A group is all names with the same traits.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from toolcrib.model.capability import Defer, Kind, PermissionKind, SourceKind, State
from toolcrib.model.entry import Entry

LEAST_FOLDED, SHARE_FOLDED = 16, 64


class EntryTraits(NamedTuple):
    """What entries of one group have in common: see the fields of `Entry` and of `Capability`."""

    kind: Kind
    source: SourceKind
    source_id: str | None
    module: str
    permission_kind: PermissionKind
    searchable: bool
    packaged: bool
    state: State
    defer: Defer
    required: bool

    @classmethod
    def of(cls, entry: Entry) -> "EntryTraits":
        """Those of an entry; its definition is not read for them."""
        return cls(
            entry.kind,
            entry.source,
            entry.source_id,
            entry.module,
            entry.permission_kind,
            entry.searchable,
            entry.packaged,
            entry.state,
            entry.defer,
            entry.required,
        )

    @property
    def owner(self) -> str:
        """As `Entry.owner`."""
        return self.source_id or self.module or self.source

    @property
    def owner_label(self) -> str:
        """As `Entry.owner_label`."""
        return f"{self.source}:{self.source_id}" if self.source_id else self.owner


class NameGroup(Collection[str]):
    """Some names, which share with those of another moment what is the same. Never changed."""

    __slots__ = ("_added", "_base", "_gone")

    def __init__(
        self,
        base: Collection[str],
        added: frozenset[str] = frozenset(),
        gone: frozenset[str] = frozenset(),
    ) -> None:
        self._base = base
        self._added = added
        self._gone = gone

    def __len__(self) -> int:
        return len(self._base) + len(self._added) - len(self._gone)

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in self._base if name not in self._gone)
        yield from self._added

    def __contains__(self, name: object) -> bool:
        return name in self._added or (name not in self._gone and name in self._base)

    def plus(self, name: str) -> "Collection[str]":
        """The names with this one."""
        if name in self:
            return self
        if name in self._base:
            return _folded(NameGroup(self._base, self._added, self._gone - {name}))
        return _folded(NameGroup(self._base, self._added | {name}, self._gone))

    def minus(self, name: str) -> "Collection[str]":
        """The names without this one."""
        if name not in self:
            return self
        gone = self._gone | {name} if name in self._base else self._gone
        return _folded(NameGroup(self._base, self._added - {name}, gone))

    @property
    def is_large(self) -> bool:
        """Whether so much is otherwise than in its base that it is better put together."""
        return len(self._added) + len(self._gone) > max(LEAST_FOLDED, len(self) // SHARE_FOLDED)


def with_name(names: Collection[str], name: str) -> Collection[str]:
    """The names and one more, without a copy of many."""
    return (names if isinstance(names, NameGroup) else NameGroup(names)).plus(name)


def without_name(names: Collection[str], name: str) -> Collection[str]:
    """The names but one, without a copy of many."""
    return (names if isinstance(names, NameGroup) else NameGroup(names)).minus(name)


def _folded(group: NameGroup) -> Collection[str]:
    return frozenset(group) if group.is_large else group


@dataclass(frozen=True, slots=True, eq=False)
class EntryGroups(Mapping[EntryTraits, Collection[str]]):
    """The names of all `entries` by their traits. No group is empty."""

    entries: Mapping[str, Entry]
    groups: Mapping[EntryTraits, Collection[str]]

    @classmethod
    def of(cls, entries: Mapping[str, Entry]) -> "EntryGroups":
        """The groups of these entries, by a look at each."""
        found: dict[EntryTraits, list[str]] = {}
        for name, entry in entries.items():
            found.setdefault(EntryTraits.of(entry), []).append(name)
        return cls(entries, {traits: frozenset(names) for traits, names in found.items()})

    def changed(self, entries: Mapping[str, Entry], names: Iterable[str]) -> "EntryGroups":
        """The groups of later entries, which differ from these in the given names alone."""
        groups = dict(self.groups)
        for name in names:
            if old := self.entries.get(name):
                _take_out(groups, EntryTraits.of(old), name)
            if new := entries.get(name):
                traits = EntryTraits.of(new)
                groups[traits] = with_name(groups.get(traits, ()), name)
        return EntryGroups(entries, groups)

    def touched(self, later: "EntryGroups", names: Iterable[str]) -> frozenset[EntryTraits]:
        """The traits that these names have here, or later."""
        both = (each.get(name) for name in names for each in (self.entries, later.entries))
        return frozenset(EntryTraits.of(entry) for entry in both if entry)

    def __getitem__(self, traits: EntryTraits) -> Collection[str]:
        return self.groups[traits]

    def __iter__(self) -> Iterator[EntryTraits]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)


def _take_out(groups: dict[EntryTraits, Collection[str]], traits: EntryTraits, name: str) -> None:
    if left := without_name(groups[traits], name):
        groups[traits] = left
    else:
        del groups[traits]
