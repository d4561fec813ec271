"""Counts of pairs in memory, ready to be looked up from either side."""

from collections.abc import Iterator, Mapping

from toolcrib.store.uses import MOST_PAIRS, Pair

SLACK = 1.1
"""How far the bound may be passed before the rarest go: they go by many, not one at a time."""


class PairCounts:
    """How often one tool was called after another."""

    def __init__(self, counts: Mapping[Pair, int] | None = None) -> None:
        self._counts = dict(counts or {})
        self._after: dict[str, set[str]] = {}
        self._before: dict[str, set[str]] = {}
        for pair in self._counts:
            self._index(pair)

    def __len__(self) -> int:
        return len(self._counts)

    def items(self) -> Iterator[tuple[Pair, int]]:
        """Every pair with its count, the most frequent first, ties by name."""
        yield from sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))

    def add(self, pair: Pair, count: int = 1) -> None:
        """Count a pair; of too many the rarest go."""
        self._counts[pair] = self._counts.get(pair, 0) + count
        self._index(pair)
        if len(self._counts) > MOST_PAIRS * SLACK:
            rarest = sorted(self._counts, key=lambda each: self._counts[each])
            for each in rarest[: len(self._counts) - MOST_PAIRS]:
                self._drop(each)

    def followers(self, tool: str) -> Mapping[str, int]:
        """What was called after a tool, and how often."""
        return {after: self._counts[Pair(tool, after)] for after in self._after.get(tool, ())}

    def predecessors(self, tool: str) -> Mapping[str, int]:
        """What a tool was called after, and how often."""
        return {before: self._counts[Pair(before, tool)] for before in self._before.get(tool, ())}

    def _index(self, pair: Pair) -> None:
        before, after = pair
        self._after.setdefault(before, set()).add(after)
        self._before.setdefault(after, set()).add(before)

    def _drop(self, pair: Pair) -> None:
        del self._counts[pair]
        self._after[pair.before].discard(pair.after)
        self._before[pair.after].discard(pair.before)
