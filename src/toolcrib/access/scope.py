"""The scope of a caller, and why it keeps an entry from them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal

from toolcrib.api_arguments import several
from toolcrib.model import Entry, EntryTraits, Kind, PermissionKind, State
from toolcrib.names import PatternIndex, any_bars, any_grants, source_names

FilterVerdict = Literal[
    "",
    "disabled",
    "unreviewed",
    "other platform",
    "internal",
    "not searchable",
    "excluded",
    "no right",
    "denied",
    "already bound",
    "other kind",
]
"""The filter that hides an entry; "" where none does."""

FEW_PATTERNS = 16
"""So many are tried one by one; of more, those that may be about an entry are found first."""
UNUSABLE: Mapping[State, FilterVerdict] = {
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
    `denied`: what the operator's rules deny, by name, as they are now; a crib sets it. Any list of
    strings may be given. Raises `ConfigError` for one string: it would be read by letters.
    """

    internal: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    allowed: frozenset[str] | None = None
    sources: frozenset[str] | None = None
    permissions: frozenset[PermissionKind] | None = None
    packaged: bool = True
    bound: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        lists = "internal", "excluded", "allowed", "sources", "permissions", "bound", "denied"
        for name in lists:
            given: Iterable[str] | None = getattr(self, name)
            kind = PermissionKind if name == "permissions" else str
            if given is not None or self.__dataclass_fields__[name].default is not None:
                listed = frozenset(several(given or (), f"Scope({name}=)", kind))
                object.__setattr__(self, name, listed)


def why_hidden(entry: Entry, scope: Scope, kinds: frozenset[Kind] = frozenset()) -> FilterVerdict:
    """Why an entry is hidden from this caller: the first filter that says so; "" if none does."""
    unsearchable: FilterVerdict = "" if entry.searchable else "not searchable"
    return (
        _for_everyone(entry, scope)
        or unsearchable
        or _for_caller(entry, scope)
        or _for_search(entry, scope, kinds)
    )


def why_barred(entry: Entry, scope: Scope) -> FilterVerdict:
    """Why this caller may not call an entry: the first filter that says so; "" if none does."""
    return _for_everyone(entry, scope) or _for_caller(entry, scope)


def allows_source(source_id: str, scope: Scope) -> bool:
    """Whether this caller may have anything from a source."""
    return scope.sources is None or any(fnmatchcase(source_id, each) for each in scope.sources)


def _for_everyone(entry: Entry, scope: Scope) -> FilterVerdict:
    if entry.state in UNUSABLE:
        return UNUSABLE[entry.state]
    return "internal" if any_bars(scope.internal, entry) else ""


def _for_caller(entry: Entry, scope: Scope) -> FilterVerdict:
    if any_bars(_about(scope.excluded, entry), entry):
        return "excluded"
    if not _is_allowed(entry, scope):
        return "no right"
    return "denied" if entry.name in scope.denied else ""


def _is_allowed(entry: Entry, scope: Scope) -> bool:
    return (
        (scope.allowed is None or any_grants(_about(scope.allowed, entry), entry))
        and any(allows_source(each, scope) for each in source_names(entry))
        and (scope.permissions is None or entry.permission_kind in scope.permissions)
        and (scope.packaged or not entry.packaged)
    )


def _about(patterns: frozenset[str], entry: Entry) -> frozenset[str]:
    """Those of many patterns that may be about this entry."""
    few = len(patterns) <= FEW_PATTERNS
    return patterns if few else _index(patterns).about(EntryTraits.of(entry))


@lru_cache(maxsize=64)
def _index(patterns: frozenset[str]) -> PatternIndex:
    return PatternIndex(patterns)


def _for_search(entry: Entry, scope: Scope, kinds: frozenset[Kind]) -> FilterVerdict:
    if entry.name in scope.bound:
        return "already bound"
    return "other kind" if kinds and entry.kind not in kinds else ""
