"""What is kept about use: which tools were called after which, and lessons.

A pair is two names and a count; a lesson is the hash of a word, a name and how often the word led
to it. Nothing here says who asked, what was asked, or with which arguments something was called.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import apsw

LEAST_WEIGHT = 0.05
"""A lesson that weighs less is forgotten."""


class UsePair(NamedTuple):
    """Two tools, the second called soon after the first in one conversation."""

    before: str
    after: str


class UseLessonKey(NamedTuple):
    """A word of queries, as a hash, the tool it led to, and the profile of those who asked."""

    rights: bytes
    word: bytes
    tool: str


class UseLesson(NamedTuple):
    """In how many conversations it came up, and what that weighed on the day of the last one."""

    uses: int = 0
    weight: float = 0.0
    day: int = 0

    def aged(self, day: int, half_life_days: float) -> float:
        """What it weighs on a later day."""
        return self.weight * 0.5 ** (max(0, day - self.day) / half_life_days)

    def again(self, later: "UseLesson", half_life_days: float) -> "UseLesson":
        """Both as one, as of the later day."""
        day = max(self.day, later.day)
        weight = self.aged(day, half_life_days) + later.aged(day, half_life_days)
        return UseLesson(self.uses + later.uses, weight, day)


@dataclass(frozen=True, slots=True)
class UseRecord:
    """Pairs with their counts, and lessons; of each so many at most. `key` is what hashes words."""

    MOST_PAIRS: ClassVar = 10_000
    MOST_LESSONS: ClassVar = 20_000

    pairs: Mapping[UsePair, int] = field(default_factory=dict[UsePair, int])
    lessons: Mapping[UseLessonKey, UseLesson] = field(default_factory=dict[UseLessonKey, UseLesson])
    key: bytes = b""


def read(db: apsw.Connection) -> UseRecord:
    """All that is kept, the pairs in the order in which they were first recorded."""
    counted = db.execute("SELECT before, after, count FROM use_pair ORDER BY id")
    learned = db.execute("SELECT profile, word, tool, uses, weight, day FROM use_lesson")
    return UseRecord(
        {UsePair(before, after): count for before, after, count in counted},
        {
            UseLessonKey(rights, word, tool): UseLesson(uses, weight, day)
            for rights, word, tool, uses, weight, day in learned
        },
        db.execute("SELECT key FROM use_key").get,
    )


def add(db: apsw.Connection, more: UseRecord, half_life_days: float) -> None:
    """Add to what is kept; of too many the rarest pairs and the lightest lessons go."""
    _add_pairs(db, more.pairs)
    _add_lessons(db, more.lessons, half_life_days)


def forget(db: apsw.Connection, tool: str) -> int:
    """Erase what is kept about one tool, or everything if the name is empty. How many rows."""
    db.pragma("secure_delete", value=True)  # the bytes go too, not only the way to them
    before = db.execute("SELECT total_changes()").get
    db.execute("DELETE FROM use_pair WHERE ? IN ('', before, after)", (tool,))
    db.execute("DELETE FROM use_lesson WHERE ? IN ('', tool)", (tool,))
    return db.execute("SELECT total_changes()").get - before


def _add_pairs(db: apsw.Connection, pairs: Mapping[UsePair, int]) -> None:
    db.executemany(
        "INSERT INTO use_pair (before, after, count) VALUES (?, ?, ?)"
        " ON CONFLICT (before, after) DO UPDATE SET count = count + excluded.count",
        ((*pair, count) for pair, count in pairs.items()),
    )
    db.execute(
        "DELETE FROM use_pair WHERE id IN (SELECT id FROM use_pair ORDER BY count, id"
        " LIMIT max(0, (SELECT count(*) FROM use_pair) - ?))",
        (UseRecord.MOST_PAIRS,),
    )


def _add_lessons(
    db: apsw.Connection, lessons: Mapping[UseLessonKey, UseLesson], half_life_days: float
) -> None:
    select = "SELECT uses, weight, day FROM use_lesson WHERE (profile, word, tool) = (?, ?, ?)"
    for at, lesson in lessons.items():
        before = [UseLesson(*row) for row in db.execute(select, at)] or [UseLesson()]
        both = before[0].again(lesson, half_life_days)
        db.execute("INSERT OR REPLACE INTO use_lesson VALUES (?, ?, ?, ?, ?, ?)", (*at, *both))
    db.execute("DELETE FROM use_lesson WHERE weight < ?", (LEAST_WEIGHT,))
    db.execute(
        "DELETE FROM use_lesson WHERE (profile, word, tool) IN (SELECT profile, word, tool"
        " FROM use_lesson ORDER BY weight, day, tool, word, profile"
        " LIMIT max(0, (SELECT count(*) FROM use_lesson) - ?))",
        (UseRecord.MOST_LESSONS,),
    )
