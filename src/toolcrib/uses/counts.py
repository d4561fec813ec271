"""What was learned from use, in memory: counts of pairs, and lessons. Both are bounded.

A pair is two tools that were called one after the other. A lesson is a word of queries, as a hash,
and the tool that it led to.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b

from toolcrib.store import UseLesson, UseLessonKey, UsePair, UseRecord

SLACK = 1.1
"""How far the bound may be passed before the rarest go: they go by many, not one at a time."""
LEAST_USES = 2
"""A lesson counts once so many conversations have taught it: one alone teaches nothing."""
FULL_WEIGHT = 4.0
"""A lesson that weighs this much counts in full; more does not count more."""
LEAST_SHARE = 0.5
"""Of the words of a query, so many have to have led to a tool before it is lifted."""
HASH_BYTES = 8


class PairCounts:
    """How often one tool was called after another."""

    def __init__(self, counts: Mapping[UsePair, int] | None = None) -> None:
        self._counts = dict(counts or {})
        self._after: dict[str, set[str]] = {}
        self._before: dict[str, set[str]] = {}
        for pair in self._counts:
            self._index(pair)

    def __len__(self) -> int:
        return len(self._counts)

    def items(self) -> Iterator[tuple[UsePair, int]]:
        """Every pair with its count, the most frequent first, ties by name."""
        yield from sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))

    def add(self, pair: UsePair, count: int = 1) -> None:
        """Count a pair; of too many the rarest go."""
        self._counts[pair] = self._counts.get(pair, 0) + count
        self._index(pair)
        if len(self._counts) > UseRecord.MOST_PAIRS * SLACK:
            rarest = sorted(self._counts, key=lambda each: self._counts[each])
            for each in rarest[: len(self._counts) - UseRecord.MOST_PAIRS]:
                self._drop(each)

    def followers(self, tool: str) -> Mapping[str, int]:
        """What was called after a tool, and how often."""
        return {after: self._counts[UsePair(tool, after)] for after in self._after.get(tool, ())}

    def predecessors(self, tool: str) -> Mapping[str, int]:
        """What a tool was called after, and how often."""
        return {
            before: self._counts[UsePair(before, tool)] for before in self._before.get(tool, ())
        }

    def _index(self, pair: UsePair) -> None:
        before, after = pair
        self._after.setdefault(before, set()).add(after)
        self._before.setdefault(after, set()).add(before)

    def _drop(self, pair: UsePair) -> None:
        del self._counts[pair]
        self._after[pair.before].discard(pair.after)
        self._before[pair.after].discard(pair.before)


class LessonBook:
    """Lessons by profile and word."""

    def __init__(
        self, lessons: Mapping[UseLessonKey, UseLesson] | None = None, *, half_life_days: float
    ) -> None:
        self._half_life_days = half_life_days
        self._tools: dict[tuple[bytes, bytes], dict[str, UseLesson]] = {}
        self._size = 0
        for (rights, word, tool), lesson in (lessons or {}).items():
            self._tools.setdefault((rights, word), {})[tool] = lesson
            self._size += 1

    def __len__(self) -> int:
        return self._size

    def items(self) -> Iterator[tuple[UseLessonKey, UseLesson]]:
        """Every lesson, in the order of profile and word."""
        for (rights, word), tools in sorted(self._tools.items()):
            for tool, lesson in sorted(tools.items()):
                yield UseLessonKey(rights, word, tool), lesson

    def add(self, key: UseLessonKey, lesson: UseLesson) -> None:
        """Add a lesson to its likes; of too many the lightest go."""
        tools = self._tools.setdefault((key.rights, key.word), {})
        self._size += key.tool not in tools
        tools[key.tool] = tools.get(key.tool, UseLesson()).again(lesson, self._half_life_days)
        if self._size > UseRecord.MOST_LESSONS * SLACK:
            self._trim()

    def shares(self, rights: bytes, words: Sequence[bytes], day: int) -> Mapping[str, float]:
        """How firmly these words have led to which tools, each above 0 and up to 1."""
        firmness: dict[str, list[float]] = {}
        for word in words:
            for tool, lesson in self._tools.get((rights, word), {}).items():
                if lesson.uses >= LEAST_USES:
                    weight = lesson.aged(day, self._half_life_days)
                    firmness.setdefault(tool, []).append(min(1.0, weight / FULL_WEIGHT))
        enough = LEAST_SHARE * len(words)
        return {
            tool: sum(each) / len(words) for tool, each in firmness.items() if len(each) >= enough
        }

    def _trim(self) -> None:
        lightest = sorted(self.items(), key=lambda item: item[1].weight)
        for key, _ in lightest[: self._size - UseRecord.MOST_LESSONS]:
            del self._tools[key.rights, key.word][key.tool]
            self._size -= 1


def word_hashes(query_words: Sequence[str], key: bytes) -> tuple[bytes, ...]:
    """The words as they are kept: with another key, other hashes."""
    return tuple(
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES, key=key).digest()
        for word in query_words
    )
