"""Lessons in memory: which tools the words of a query have led to."""

from collections.abc import Iterator, Mapping, Sequence

from toolcrib.store.uses import MOST_LESSONS, NEVER, Lesson, LessonKey
from toolcrib.uses.pairs import SLACK

LEAST_USES = 2
"""A lesson counts once so many conversations have taught it: one alone teaches nothing."""
FULL_WEIGHT = 4.0
"""A lesson that weighs this much counts in full; more does not count more."""
LEAST_SHARE = 0.5
"""Of the words of a query, so many have to have led to a tool before it is lifted."""


class LessonBook:
    """Lessons by profile and word."""

    def __init__(
        self, lessons: Mapping[LessonKey, Lesson] | None = None, *, half_life_days: float
    ) -> None:
        self._half_life_days = half_life_days
        self._tools: dict[tuple[bytes, bytes], dict[str, Lesson]] = {}
        self._size = 0
        for (profile, word, tool), lesson in (lessons or {}).items():
            self._tools.setdefault((profile, word), {})[tool] = lesson
            self._size += 1

    def __len__(self) -> int:
        return self._size

    def items(self) -> Iterator[tuple[LessonKey, Lesson]]:
        """Every lesson, in the order of profile and word."""
        for (profile, word), tools in sorted(self._tools.items()):
            for tool, lesson in sorted(tools.items()):
                yield LessonKey(profile, word, tool), lesson

    def add(self, key: LessonKey, lesson: Lesson) -> None:
        """Add a lesson to its likes; of too many the lightest go."""
        tools = self._tools.setdefault((key.profile, key.word), {})
        self._size += key.tool not in tools
        tools[key.tool] = tools.get(key.tool, NEVER).again(lesson, self._half_life_days)
        if self._size > MOST_LESSONS * SLACK:
            self._trim()

    def shares(self, profile: bytes, words: Sequence[bytes], day: int) -> Mapping[str, float]:
        """How firmly these words have led to which tools, each above 0 and up to 1."""
        firmness: dict[str, list[float]] = {}
        for word in words:
            for tool, lesson in self._tools.get((profile, word), {}).items():
                if lesson.uses >= LEAST_USES:
                    weight = lesson.aged(day, self._half_life_days)
                    firmness.setdefault(tool, []).append(min(1.0, weight / FULL_WEIGHT))
        enough = LEAST_SHARE * len(words)
        return {
            tool: sum(each) / len(words) for tool, each in firmness.items() if len(each) >= enough
        }

    def _trim(self) -> None:
        lightest = sorted(self.items(), key=lambda item: item[1].weight)
        for key, _ in lightest[: self._size - MOST_LESSONS]:
            del self._tools[key.profile, key.word][key.tool]
            self._size -= 1
