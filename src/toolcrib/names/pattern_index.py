"""Which of many patterns may be about a group of entries, without trying each.

A pattern speaks of a source in one of two ways: by what stands before a `/`, or by how it begins.
Patterns are found by either; those that begin with a wildcard are always tried.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from toolcrib.model import EntryTraits
from toolcrib.names.origin import SHORTEST_CUT
from toolcrib.names.patterns import (
    literal_part,
    may_mean,
    name_stems,
    source_names,
)

FEW = 8
"""So many patterns are tried one by one."""


class PatternIndex:
    """Some patterns of the operator. Never changed; safe to share."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._sorted = sorted(patterns)
        self._by_source: dict[str, list[str]] = {}
        self._by_literal: dict[str, list[str]] = {}
        self._near: dict[tuple[object, ...], Sequence[str]] = {}
        for pattern in self._sorted if len(self._sorted) > FEW else ():
            self._by_literal.setdefault(literal_part(pattern), []).append(pattern)
            for source in _sources_in(pattern):
                wild = literal_part(source) != source
                self._by_source.setdefault("*" if wild else source, []).append(pattern)

    def __bool__(self) -> bool:
        return bool(self._sorted)

    def about(self, traits: EntryTraits) -> frozenset[str]:
        """Those that may mean an entry with these traits."""
        return frozenset(each for each in self._nearest(traits) if may_mean(each, traits))

    def _nearest(self, traits: EntryTraits) -> Sequence[str]:
        """At least all that may be about a source, worked out once for it."""
        if len(self._sorted) <= FEW:
            return self._sorted
        source = traits.kind, traits.source, traits.source_id, traits.module
        if source not in self._near:
            self._near[source] = tuple(self._found(traits))
        return self._near[source]

    def _found(self, traits: EntryTraits) -> set[str]:
        found = set(self._by_source.get("*", ()))
        for name in source_names(traits):
            plain = name.replace("/", "_")
            for key in (plain, f"{traits.source}:{plain}"):
                found.update(self._by_source.get(key, ()))
        for stem in name_stems(traits):
            cut = stem[:SHORTEST_CUT]
            for end in range(len(cut) + 1):
                found.update(self._by_literal.get(cut[:end], ()))
            found.update(self._beginning_with(cut))
        return found

    def _beginning_with(self, stem: str) -> Sequence[str]:
        if not stem:
            return self._sorted
        first = bisect_left(self._sorted, stem)
        end = first
        while end < len(self._sorted) and self._sorted[end].startswith(stem):
            end += 1
        return self._sorted[first:end]


def _sources_in(pattern: str) -> Sequence[str]:
    """What stands before each `/`: on some reading it is the source."""
    return [pattern[:at] for at, sign in enumerate(pattern) if sign == "/"]
