"""The verdicts of a scope on all entries at once, by whole groups where traits decide.

A filter is made once for a scope. When entries change, it is mended by those that did.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from toolcrib.access.scope import UNUSABLE, Scope
from toolcrib.model import Entry, EntryGroups, EntryTraits, Kind, NameFilter
from toolcrib.names import PatternIndex, any_bars, any_grants, has_wildcard, source_names

SHARE_OF_NAMES = 2
"""A filter is turned round once it keeps more than this share of all names: 1 in so many."""


class GroupJudge:
    """What a scope lets through of groups of entries."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._taken = PatternIndex(scope.internal | scope.excluded)
        self._given = None if scope.allowed is None else PatternIndex(scope.allowed)
        sources = scope.sources or frozenset()
        self._wild_sources = [each for each in sources if has_wildcard(each)]

    def callable_names(self, groups: EntryGroups, traits: EntryTraits) -> Collection[str]:
        """The names of a group that the caller may call: that very group, if all of it."""
        if traits.state in UNUSABLE or not self._lets(traits):
            return ()
        return self._not_barred(groups, traits)

    def would_be_callable(self, groups: EntryGroups, traits: EntryTraits) -> Collection[str]:
        """The same, as if the entries were ready."""
        return self._not_barred(groups, traits) if self._lets(traits) else ()

    def searchable_names(
        self, groups: EntryGroups, traits: EntryTraits, kinds: frozenset[Kind]
    ) -> Collection[str]:
        """The names of a group that a search of the caller sees: that very group, if all of it."""
        if not traits.searchable or (kinds and traits.kind not in kinds):
            return ()
        names, bound = self.callable_names(groups, traits), self._scope.bound
        if not any(name in names for name in bound):
            return names
        return frozenset(names) - bound

    def _not_barred(self, groups: EntryGroups, traits: EntryTraits) -> Collection[str]:
        """Those that no rule and no pattern takes away, and that one gives, if only those count."""
        names, entries = groups[traits], groups.entries
        if not self._scope.denied.isdisjoint(names):
            names = frozenset(names) - self._scope.denied
        bars = self._taken.about(traits) if self._taken else ()
        gives = None if self._given is None else self._given.about(traits)
        if not bars and gives is None:
            return names
        if gives is not None and not gives:
            return ()
        each = ((name, entries[name]) for name in names)
        given = (both for both in each if gives is None or any_grants(gives, both[1]))
        return frozenset(name for name, entry in given if not any_bars(bars, entry))

    def _lets(self, traits: EntryTraits) -> bool:
        """Whether traits alone bar nothing."""
        scope = self._scope
        return (
            (scope.packaged or not traits.packaged)
            and (scope.permissions is None or traits.permission_kind in scope.permissions)
            and (scope.sources is None or any(map(self._lets_source, source_names(traits))))
        )

    def _lets_source(self, name: str) -> bool:
        plain = name in (self._scope.sources or ()) and not has_wildcard(name)
        return plain or any(fnmatchcase(name, each) for each in self._wild_sources)


def search_filter(
    groups: EntryGroups, scope: Scope, kinds: frozenset[Kind] = frozenset()
) -> NameFilter:
    """Leaves out what `why_hidden` hides from this caller."""
    judge = GroupJudge(scope)
    return _filter(groups, (judge.searchable_names(groups, each, kinds) for each in groups))


def call_filter(groups: EntryGroups, scope: Scope) -> NameFilter:
    """Leaves out what `why_barred` bars this caller from."""
    judge = GroupJudge(scope)
    return _filter(groups, (judge.callable_names(groups, each) for each in groups))


def updated_filter(
    old: NameFilter,
    entries: Mapping[str, Entry],
    changed: Iterable[str],
    hides: Callable[[Entry], object],
) -> NameFilter:
    """The filter of later entries that differ in the changed names; the old one if it still holds.

    `hides` is the verdict on one entry: true if it is to be left out.
    """
    keep, drop = set[str](), set[str]()
    for name in changed:
        entry = entries.get(name)
        kept = entry is not None and bool(hides(entry)) != old.inverted
        (keep if kept else drop).add(name)
    names = old.names
    if not (keep <= names and drop.isdisjoint(names)):
        names = names.difference(drop).union(keep)
    too_many = len(names) * SHARE_OF_NAMES > len(entries) + SHARE_OF_NAMES
    if too_many:
        return NameFilter(frozenset(entries) - names, not old.inverted)
    return old if names is old.names else NameFilter(names, old.inverted)


def count_unreviewed(groups: EntryGroups, scope: Scope) -> int:
    """How many entries this caller would see if they were approved."""
    waiting = [traits for traits in groups if traits.state == "unreviewed"]
    judge = GroupJudge(scope) if waiting else None
    return sum(len(judge.would_be_callable(groups, each)) for each in waiting) if judge else 0


class VisibleEntries(Mapping[str, Entry]):
    """What a filter lets through of some entries. Never changed; safe to share.

    All names of the filter are names of entries.
    """

    def __init__(self, entries: Mapping[str, Entry], hidden: NameFilter) -> None:
        self.all_entries = entries
        self.hidden = hidden

    def __getitem__(self, name: str) -> Entry:
        if name in self.hidden:
            raise KeyError(name)
        return self.all_entries[name]

    def __contains__(self, name: object) -> bool:
        return name not in self.hidden and name in self.all_entries

    def __iter__(self) -> Iterator[str]:
        if self.hidden.inverted:
            return iter(sorted(self.hidden.names))
        return (name for name in self.all_entries if name not in self.hidden)

    def __len__(self) -> int:
        names = len(self.hidden.names)
        return names if self.hidden.inverted else len(self.all_entries) - names


def _filter(groups: EntryGroups, visible: Iterable[Collection[str]]) -> NameFilter:
    """What leaves out all but the visible ones, kept as whichever of both is shorter."""
    parts: Sequence[tuple[EntryTraits, Collection[str]]] = list(zip(groups, visible, strict=True))
    shown = sum(len(names) for _, names in parts)
    if shown * SHARE_OF_NAMES < len(groups.entries):
        return NameFilter.only(name for _, names in parts for name in names)
    hidden: list[str] = []
    for traits, names in parts:
        if names is not groups[traits]:
            hidden += frozenset(groups[traits]).difference(names)
    return NameFilter.without(hidden)
