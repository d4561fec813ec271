from collections.abc import Iterator

import pytest

from toolcrib.store import SqliteStore, UseLesson, UseLessonKey, UsePair, UseRecord


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with SqliteStore.open(":memory:") as store:
        yield store


def keep(store: SqliteStore, **kept: int) -> None:
    """Keep pairs that are called by two letters, with their counts."""
    pairs = {UsePair(*name): count for name, count in kept.items()}
    store.keep_used(UseRecord(pairs), half_life_days=30)


def lesson(tool: str, weight: float, day: int = 0) -> dict[UseLessonKey, UseLesson]:
    return {UseLessonKey(b"p", b"w", tool): UseLesson(1, weight, day)}


def test_of_too_many_pairs_the_rarest_go_the_older_first(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(UseRecord, "MOST_PAIRS", 3)
    keep(store, ab=5, cd=1, ef=1)
    keep(store, gh=2, ij=1)
    assert list(store.used().pairs) == [("a", "b"), ("g", "h"), ("i", "j")]


def test_of_too_many_lessons_the_lightest_go(store: SqliteStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(UseRecord, "MOST_LESSONS", 2)
    three = lesson("a", 3.0) | lesson("b", 1.0) | lesson("c", 2.0)
    store.keep_used(UseRecord(lessons=three), half_life_days=30)
    assert [key.tool for key in store.used().lessons] == ["a", "c"]


def test_a_lesson_that_weighs_next_to_nothing_goes(store: SqliteStore):
    store.keep_used(UseRecord(lessons=lesson("a", 0.01) | lesson("b", 1.0)), half_life_days=30)
    assert [key.tool for key in store.used().lessons] == ["b"]


def test_every_catalog_hashes_words_with_a_key_of_its_own(store: SqliteStore):
    with SqliteStore.open(":memory:") as other:
        assert len(store.used().key) == 16
        assert store.used().key != other.used().key
