"""Who may see and call what: the scope of a caller, and the filters it makes.

    Entry, Scope → why_hidden   a search asks it, before anything is ranked
    Entry, Scope → why_barred   a call asks it

Both run the same filters for rights and states; `why_hidden` has three more, which only tidy a
search: not searchable, already bound, other kind. A hidden tool takes no place in any ranking.
Patterns are matched by `toolcrib.names`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from toolcrib.model import Entry, Kind, NameFilter, PermissionKind, State
from toolcrib.names import any_bars, any_grants, source_names

FilterVerdict = Literal[
    "",
    "disabled",
    "unreviewed",
    "other platform",
    "internal",
    "not searchable",
    "excluded",
    "no right",
    "already bound",
    "other kind",
]
"""The filter that hides an entry; "" where none does."""

_UNUSABLE: Mapping[State, FilterVerdict] = {
    "disabled": "disabled",
    "unreviewed": "unreviewed",
    "other_platform": "other platform",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What a caller may see and call. Names may be patterns (`github/*`), except in `bound`.

    `internal`: internal tools, hidden from everyone. `excluded`: what this caller must not have.
    `allowed`: what this caller may have, by name. `sources`: from which sources, by their ids, or
    by their kinds where they have none. `permissions`: of which permission kinds. For these three
    None allows everything, and an empty set allows nothing. `packaged`: whether the tools that come
    with Toolcrib are allowed. `bound`: what the caller has already; a search leaves it out.
    """

    internal: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    allowed: frozenset[str] | None = None
    sources: frozenset[str] | None = None
    permissions: frozenset[PermissionKind] | None = None
    packaged: bool = True
    bound: frozenset[str] = frozenset()


def why_hidden(entry: Entry, scope: Scope, kinds: frozenset[Kind] = frozenset()) -> FilterVerdict:
    """Why an entry is hidden from this caller: the first filter that says so; "" if none does."""
    unsearchable: FilterVerdict = "" if entry.capability.searchable else "not searchable"
    return (
        _for_everyone(entry, scope)
        or unsearchable
        or _for_caller(entry, scope)
        or _for_search(entry, scope, kinds)
    )


def why_barred(entry: Entry, scope: Scope) -> FilterVerdict:
    """Why this caller may not call an entry: the first filter that says so; "" if none does."""
    return _for_everyone(entry, scope) or _for_caller(entry, scope)


def search_filter(
    entries: Iterable[Entry], scope: Scope, kinds: frozenset[Kind] = frozenset()
) -> NameFilter:
    """Leaves out the entries that are hidden from this caller."""
    hidden: list[str] = []
    visible: list[str] = []
    for entry in entries:
        (hidden if why_hidden(entry, scope, kinds) else visible).append(entry.name)
    few = len(visible) < len(hidden)
    return NameFilter.only(visible) if few else NameFilter.without(hidden)


def allows_source(source_id: str, scope: Scope) -> bool:
    """Whether this caller may have anything from a source."""
    return scope.sources is None or any(fnmatchcase(source_id, each) for each in scope.sources)


def count_unreviewed(entries: Iterable[Entry], scope: Scope) -> int:
    """How many entries this caller would see if they were approved."""
    waiting = (replace(each, state="ready") for each in entries if each.state == "unreviewed")
    return sum(not why_barred(each, scope) for each in waiting)


def _for_everyone(entry: Entry, scope: Scope) -> FilterVerdict:
    if entry.state in _UNUSABLE:
        return _UNUSABLE[entry.state]
    return "internal" if any_bars(scope.internal, entry) else ""


def _for_caller(entry: Entry, scope: Scope) -> FilterVerdict:
    if any_bars(scope.excluded, entry):
        return "excluded"
    return "" if _is_allowed(entry, scope) else "no right"


def _is_allowed(entry: Entry, scope: Scope) -> bool:
    capability = entry.capability
    return (
        (scope.allowed is None or any_grants(scope.allowed, entry))
        and any(allows_source(each, scope) for each in source_names(capability))
        and (scope.permissions is None or capability.permission_kind in scope.permissions)
        and (scope.packaged or not capability.packaged)
    )


def _for_search(entry: Entry, scope: Scope, kinds: frozenset[Kind]) -> FilterVerdict:
    if entry.name in scope.bound:
        return "already bound"
    return "other kind" if kinds and entry.capability.kind not in kinds else ""
