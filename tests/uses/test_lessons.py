import pytest

from toolcrib.store import UseLesson, UseLessonKey, UseRecord
from toolcrib.uses.counts import FULL_WEIGHT, LEAST_USES, LessonBook

EVERYONE, RESTRICTED = b"everyone", b"restricted"


def book(*taught: tuple[bytes, str, int], day: int = 0, profile: bytes = EVERYONE) -> LessonBook:
    """A book in which each word led to a tool so many times."""
    rows = {
        UseLessonKey(profile, word, tool): UseLesson(uses, float(uses), day)
        for word, tool, uses in taught
    }
    return LessonBook(rows, half_life_days=30)


def test_one_conversation_alone_teaches_nothing():
    once, twice = book((b"mail", "send", 1)), book((b"mail", "send", LEAST_USES))
    assert once.shares(EVERYONE, [b"mail"], 0) == {}
    assert twice.shares(EVERYONE, [b"mail"], 0) == {"send": LEAST_USES / FULL_WEIGHT}


def test_a_share_is_never_more_than_one():
    assert book((b"mail", "send", 1000)).shares(EVERYONE, [b"mail"], 0) == {"send": 1.0}


def test_a_share_is_that_of_all_words_and_half_of_them_are_needed():
    learned = book((b"mail", "send", 4), (b"boss", "send", 4))
    assert learned.shares(EVERYONE, [b"mail", b"boss"], 0) == {"send": 1.0}
    assert learned.shares(EVERYONE, [b"mail", b"x"], 0) == {"send": 0.5}
    assert learned.shares(EVERYONE, [b"mail", b"x", b"y"], 0) == {}
    assert learned.shares(EVERYONE, [], 0) == {}


def test_a_lesson_fades_by_half_in_its_half_life():
    learned = book((b"mail", "send", 4))
    assert learned.shares(EVERYONE, [b"mail"], 30) == {"send": pytest.approx(0.5)}
    assert learned.shares(EVERYONE, [b"mail"], 60) == {"send": pytest.approx(0.25)}


def test_a_clock_that_went_back_is_no_gain():
    assert book((b"mail", "send", 2), day=9).shares(EVERYONE, [b"mail"], 0) == {"send": 0.5}


def test_what_one_profile_taught_no_other_hears():
    learned = book((b"mail", "send", 4), profile=RESTRICTED)
    assert learned.shares(EVERYONE, [b"mail"], 0) == {}
    assert learned.shares(RESTRICTED, [b"mail"], 0) == {"send": 1.0}


def test_a_lesson_again_is_added_to_what_is_left_of_it():
    learned = book((b"mail", "send", 2))
    learned.add(UseLessonKey(EVERYONE, b"mail", "send"), UseLesson(1, 1.0, 30))
    [(_, lesson)] = learned.items()
    assert lesson == UseLesson(3, 2.0, 30)
    assert len(learned) == 1


def test_of_too_many_the_lightest_go(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(UseRecord, "MOST_LESSONS", 10)
    learned = book((b"mail", "send", 9))
    for number in range(11):
        learned.add(UseLessonKey(EVERYONE, bytes([number]), "x"), UseLesson(1, 1.0, 0))
    assert len(learned) == len(list(learned.items())) == 10
    assert learned.shares(EVERYONE, [b"mail"], 0) == {"send": 1.0}
