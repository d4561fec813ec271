"""Entries in groups of like ones, so that nobody has to look at each of many.

Who may see or call an entry, and whether it waits for a search, is decided by a few traits: they
are the same for most tools of a server. A group is all names with the same traits.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from toolcrib.model.capability import Defer, Kind, PermissionKind, SourceKind, State
from toolcrib.model.entry import Entry


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
                groups[traits] = frozenset(groups.get(traits, ())) | {name}
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
    if left := frozenset(groups[traits]) - {name}:
        groups[traits] = left
    else:
        del groups[traits]
