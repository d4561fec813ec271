"""Who may see and call what: the scope of a caller, and the filters it makes.

Filters run before anything is ranked: a hidden tool takes no place in an answer. A search asks
`why_hidden`, a call asks `why_barred`: the same filters, but for those that only tidy a search.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from toolcrib.model import Entry, Kind, PermissionKind, State
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


_UNUSABLE: Mapping[State, FilterVerdict] = {
    "disabled": "disabled",
    "unreviewed": "unreviewed",
    "other_platform": "other platform",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Who asks. Names may be patterns (`github/*`, see `names.patterns`), but for `bound`.

    `internal`: plumbing, hidden from everyone. `excluded`: what this agent shall not find.
    `allowed`: what this caller may call. `sources`: whose, by the ids of sources, or by their kinds
    where they have none. `permissions`: of which kinds. For all three None means everything, and
    an empty one nothing. `packaged`: whether they may have the tools that come with Toolcrib.
    `bound`: what the caller has already.
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
    plumbing: FilterVerdict = "" if entry.capability.searchable else "not searchable"
    return (
        _for_everyone(entry, scope)
        or plumbing
        or _for_caller(entry, scope)
        or _for_search(entry, scope, kinds)
    )


def why_barred(entry: Entry, scope: Scope) -> FilterVerdict:
    """Why this caller may not call it: the same filters, but for those that only tidy a search."""
    return _for_everyone(entry, scope) or _for_caller(entry, scope)


def allows_source(source_id: str, scope: Scope) -> bool:
    """Whether this caller may have anything of a source at all."""
    return scope.sources is None or any(fnmatchcase(source_id, each) for each in scope.sources)


def count_unreviewed(entries: Iterable[Entry], scope: Scope) -> int:
    """How many this caller would see, had somebody approved them."""
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
    what = entry.capability
    return (
        (scope.allowed is None or any_grants(scope.allowed, entry))
        and any(allows_source(each, scope) for each in source_names(what))
        and (scope.permissions is None or what.permission_kind in scope.permissions)
        and (scope.packaged or not what.packaged)
    )


def _for_search(entry: Entry, scope: Scope, kinds: frozenset[Kind]) -> FilterVerdict:
    if entry.name in scope.bound:
        return "already bound"
    return "other kind" if kinds and entry.capability.kind not in kinds else ""


def hidden_names(
    entries: Iterable[Entry], scope: Scope, kinds: frozenset[Kind] = frozenset()
) -> frozenset[str]:
    """The names that this caller does not get to see."""
    return frozenset(entry.name for entry in entries if why_hidden(entry, scope, kinds))
