"""What a caller may see. Filters run before anything is ranked: a hidden tool takes no place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from toolcrib.model import Entry, Kind, PermissionKind, State
from toolcrib.names.patterns import any_bars, any_grants, source_names

Verdict = Literal[
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


_UNUSABLE: Mapping[State, Verdict] = {
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


def verdict(entry: Entry, scope: Scope, kinds: frozenset[Kind] = frozenset()) -> Verdict:
    """Why an entry is hidden from this caller: the first filter that says so; "" if none does."""
    plumbing: Verdict = "" if entry.capability.searchable else "not searchable"
    return (
        _for_everyone(entry, scope)
        or plumbing
        or _for_caller(entry, scope)
        or _for_search(entry, scope, kinds)
    )


def barred(entry: Entry, scope: Scope) -> Verdict:
    """Why this caller may not call it: the same filters, but for those that only tidy a search."""
    return _for_everyone(entry, scope) or _for_caller(entry, scope)


def lets_through(source_id: str, scope: Scope) -> bool:
    """Whether this caller may have anything of a source at all."""
    return scope.sources is None or any(fnmatchcase(source_id, each) for each in scope.sources)


def unreviewed(entries: Iterable[Entry], scope: Scope) -> int:
    """How many this caller would see, had somebody approved them."""
    waiting = (replace(each, state="ready") for each in entries if each.state == "unreviewed")
    return sum(not barred(each, scope) for each in waiting)


def _for_everyone(entry: Entry, scope: Scope) -> Verdict:
    if entry.state in _UNUSABLE:
        return _UNUSABLE[entry.state]
    return "internal" if any_bars(scope.internal, entry) else ""


def _for_caller(entry: Entry, scope: Scope) -> Verdict:
    if any_bars(scope.excluded, entry):
        return "excluded"
    return "" if _is_allowed(entry, scope) else "no right"


def _is_allowed(entry: Entry, scope: Scope) -> bool:
    what = entry.capability
    return (
        (scope.allowed is None or any_grants(scope.allowed, entry))
        and any(lets_through(each, scope) for each in source_names(what))
        and (scope.permissions is None or what.permission_kind in scope.permissions)
        and (scope.packaged or not what.packaged)
    )


def _for_search(entry: Entry, scope: Scope, kinds: frozenset[Kind]) -> Verdict:
    if entry.name in scope.bound:
        return "already bound"
    return "other kind" if kinds and entry.capability.kind not in kinds else ""


def hidden(
    entries: Iterable[Entry], scope: Scope, kinds: frozenset[Kind] = frozenset()
) -> frozenset[str]:
    """The names that this caller does not get to see."""
    return frozenset(entry.name for entry in entries if verdict(entry, scope, kinds))
