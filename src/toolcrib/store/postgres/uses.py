"""The rows of what is kept about use; see `store.uses`. Several gateways add at once."""

from collections.abc import Mapping

from toolcrib.store.postgres.database import Connection
from toolcrib.store.postgres.tenant import take_turns
from toolcrib.store.uses import (
    LEAST_WEIGHT,
    UseLesson,
    UseLessonKey,
    UsePair,
    UseRecord,
)

_ADD_PAIR = """
    INSERT INTO use_pair AS old (before, after, count) VALUES (%s, %s, %s)
    ON CONFLICT (tenant, before, after) DO UPDATE SET count = old.count + excluded.count
"""
_ADD_LESSON = """
    INSERT INTO use_lesson AS old (profile, word, tool, uses, weight, day)
    VALUES (%(rights)s, %(word)s, %(tool)s, %(uses)s, %(weight)s, %(day)s)
    ON CONFLICT (tenant, profile, word, tool) DO UPDATE SET
        uses = old.uses + excluded.uses,
        weight = old.weight
            * power(0.5::float8, greatest(0, excluded.day - old.day) / %(half_life_days)s::float8)
            + excluded.weight
            * power(0.5::float8, greatest(0, old.day - excluded.day) / %(half_life_days)s::float8),
        day = greatest(old.day, excluded.day)
"""
_BOUND_PAIRS = """
    DELETE FROM use_pair WHERE id IN (
        SELECT id FROM use_pair ORDER BY count, id
        LIMIT greatest(0, (SELECT count(*) FROM use_pair) - %s)
    )
"""
_BOUND_LESSONS = """
    DELETE FROM use_lesson WHERE (profile, word, tool) IN (
        SELECT profile, word, tool FROM use_lesson ORDER BY weight, day, tool, word, profile
        LIMIT greatest(0, (SELECT count(*) FROM use_lesson) - %s)
    )
"""


def read_uses(db: Connection) -> UseRecord:
    """All that is kept, the pairs in the order in which they were first recorded."""
    counted = db.execute("SELECT before, after, count FROM use_pair ORDER BY id").fetchall()
    sql = """
        SELECT profile, word, tool, uses, weight, day FROM use_lesson ORDER BY profile, word, tool
    """
    learned = db.execute(sql).fetchall()
    [(key,)] = db.execute("SELECT key FROM use_key").fetchall()
    return UseRecord(
        {UsePair(before, after): count for before, after, count in counted},
        {UseLessonKey(*row[:3]): UseLesson(*row[3:]) for row in learned},
        key,
    )


def add_uses(db: Connection, more: UseRecord, half_life_days: float) -> None:
    """Add to what is kept; of too many the rarest pairs and the lightest lessons go."""
    take_turns(db, "uses")  # else two may wait for each other's rows
    db.cursor().executemany(_ADD_PAIR, [(*pair, count) for pair, count in more.pairs.items()])
    db.execute(_BOUND_PAIRS, (UseRecord.MOST_PAIRS,))
    _add_lessons(db, more.lessons, half_life_days)


def forget_uses(db: Connection, tool: str) -> int:
    """Erase what is kept about one tool, or everything if the name is empty. How many rows."""
    take_turns(db, "uses")
    pairs = db.execute("DELETE FROM use_pair WHERE %s IN ('', before, after)", (tool,))
    lessons = db.execute("DELETE FROM use_lesson WHERE %s IN ('', tool)", (tool,))
    return pairs.rowcount + lessons.rowcount


def _add_lessons(
    db: Connection, lessons: Mapping[UseLessonKey, UseLesson], half_life_days: float
) -> None:
    rows = [
        {**at._asdict(), **lesson._asdict(), "half_life_days": half_life_days}
        for at, lesson in lessons.items()
    ]
    db.cursor().executemany(_ADD_LESSON, rows)
    db.execute("DELETE FROM use_lesson WHERE weight < %s", (LEAST_WEIGHT,))
    db.execute(_BOUND_LESSONS, (UseRecord.MOST_LESSONS,))
