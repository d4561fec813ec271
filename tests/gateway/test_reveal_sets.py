"""The reveal sets of a principal: what is in memory of them, and what is in the store.

What the store itself promises is in `tests/contracts/test_handle_stores.py`.
"""

import logging
from pathlib import Path

import pytest

from toolcrib.errors import StoreError
from toolcrib.gateway.reveal_sets import FRESH_S, MOST_SEEN, RevealSets
from toolcrib.store import MOST_SET_TOOLS, UNUSED_S, HandleFile, RevealSetStore


class Place:
    """A store in memory that may be away, and a clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.is_away = False
        self.asked = 0
        self.file = HandleFile(Path(":memory:"), lambda: self.now)

    def open(self) -> RevealSetStore:
        self.asked += 1
        if self.is_away:
            raise StoreError("the disk is full: free some space")
        return self.file

    def sets(self, owner: str = "ann") -> RevealSets:
        """As a process has them that was just started."""
        return RevealSets(owner, self.open, lambda: self.now)


@pytest.fixture
def place() -> Place:
    return Place()


def test_handles_cannot_be_guessed(place: Place):
    sets = place.sets()
    handles = {sets.add("", {"a": "1"}) for _ in range(20)}
    assert len(handles) == 20
    assert all(len(each) >= 22 for each in handles)  # 128 bits


def test_what_is_shown_now_is_known_without_a_look_at_the_store(place: Place):
    sets = place.sets()
    handle = sets.add("", {"a": "1"})
    asked = place.asked
    assert sets.shows(handle, "a", "1")
    assert not sets.shows(handle, "a", "2")
    assert not sets.shows(handle, "b", "1")
    assert not sets.shows("none", "a", "1")
    assert place.asked == asked


def test_after_a_while_the_store_is_asked_and_notes_the_use(place: Place):
    sets = place.sets()
    handle = sets.add("", {"a": "1"})
    while place.now < 2 * UNUSED_S:
        place.now += FRESH_S
        assert not sets.shows(handle, "a", "1")
        assert sets.pins(handle) == {"a": "1"}
        assert sets.shows(handle, "a", "1")
    assert place.sets().pins(handle) == {"a": "1"}


def test_another_process_knows_them_and_what_it_shows_is_known_here(place: Place):
    here, there = place.sets(), place.sets()
    handle = here.add("", {"a": "1"})
    assert there.add(handle, {"a": "2", "b": "1"}) == handle
    assert not here.shows(handle, "b", "1")
    assert here.pins(handle) == {"a": "2", "b": "1"}


def test_they_are_one_principals_alone(place: Place):
    handle = place.sets().add("", {"a": "1"})
    his = place.sets("bob")
    assert his.pins(handle) is None
    assert not his.shows(handle, "a", "1")
    assert his.add(handle, {"a": "1"}) != handle


def test_what_nobody_uses_is_gone(place: Place):
    sets = place.sets()
    handle = sets.add("", {"a": "1"})
    place.now += UNUSED_S
    assert sets.pins(handle) is None
    assert sets.add(handle, {"a": "1"}, "new") == "new"


def test_searches_go_on_while_the_store_is_away_and_it_is_said_once(
    place: Place, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.WARNING)
    sets = place.sets()
    old = sets.add("", {"a": "1"})
    place.is_away = True
    new = sets.add("", {"b": "1"})
    assert sets.add(old, {"c": "1"}) == old
    assert sets.pins(old) == {"a": "1", "c": "1"}
    assert sets.pins(new) == {"b": "1"}
    assert [each["tools"] for each in sets.describe()] == [["b"], ["a", "c"]]
    assert sets.add("unknown", {}, "made") == "made"
    assert [each.getMessage() for each in caplog.records] == [
        "reveal sets are kept in memory only: the disk is full: free some space"
    ]


def test_what_was_made_while_the_store_was_away_is_stored_when_it_is_back(place: Place):
    sets = place.sets()
    place.is_away = True
    handle = sets.add("", {"a": "1"})
    place.is_away = False
    assert sets.pins(handle) == {"a": "1"}
    assert place.sets().pins(handle) == {"a": "1"}


def test_what_was_shown_while_the_store_was_away_is_sent_without_another_search(place: Place):
    sets = place.sets()
    old = sets.add("", {"a": "1"})
    place.is_away = True
    new = sets.add("", {"b": "1"})
    sets.add(old, {"c": "1"})
    sets.send_rest()
    assert sets.has_unsent
    place.is_away = False
    sets.send_rest()
    assert not sets.has_unsent
    there = place.sets()
    assert there.pins(old) == {"a": "1", "c": "1"}
    assert there.pins(new) == {"b": "1"}


@pytest.mark.parametrize("ask", ["pins", "add"])
def test_whoever_asks_for_a_set_before_the_rest_is_sent_loses_nothing_of_it(place: Place, ask: str):
    sets = place.sets()
    handle = sets.add("", {"a": "1"})
    place.is_away = True
    assert sets.add(handle, {"b": "2"}) == handle
    new = sets.add("", {"c": "3"})
    assert sets.pins(handle) == {"a": "1", "b": "2"}
    place.is_away = False
    if ask == "pins":
        assert sets.pins(handle) == {"a": "1", "b": "2"}
    else:
        assert sets.add(handle, {"d": "4"}) == handle
        assert sets.add(new, {"d": "4"}) == new
    sets.send_rest()
    more = {"d": "4"} if ask == "add" else {}
    assert place.sets().pins(handle) == {"a": "1", "b": "2"} | more
    assert place.sets().pins(new) == {"c": "3"} | more


def test_what_is_shown_while_the_rest_is_sent_is_sent_too(place: Place):
    sets = place.sets()
    place.is_away = True
    handle = sets.add("", {"a": "1"})

    def open_once() -> RevealSetStore:
        sets._open_store = place.open
        place.is_away = True  # it goes away again, right after what was noted is taken
        sets.add(handle, {"b": "1"})
        place.is_away = False
        return place.file

    sets._open_store = open_once
    place.is_away = False
    sets.send_rest()
    assert sets.has_unsent
    sets.send_rest()
    assert place.sets().pins(handle) == {"a": "1", "b": "1"}


def test_whether_there_is_a_set_cannot_be_told_while_the_store_is_away(place: Place):
    handle = place.sets().add("", {"a": "1"})
    other = place.sets()
    place.is_away = True
    with pytest.raises(StoreError, match="the disk is full"):
        other.pins(handle)
    place.is_away = False
    assert other.pins(handle) == {"a": "1"}
    place.is_away = True
    assert other.pins(handle) == {"a": "1"}


@pytest.mark.parametrize("away", [False, True])
def test_what_is_in_memory_is_bounded(place: Place, away: bool):
    place.is_away = away
    sets = place.sets()
    handles = [sets.add("", {"a": "1"}) for _ in range(MOST_SEEN + 1)]
    assert not sets.shows(handles[0], "a", "1")
    assert sets.shows(handles[1], "a", "1")
    sets.add(handles[-1], {str(n): "1" for n in range(MOST_SET_TOOLS)})
    assert not sets.shows(handles[-1], "a", "1")


def test_the_operator_sees_marks_and_no_handles(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolcrib.gateway.reveal_sets.time.time", lambda: place.now)
    sets = place.sets()
    first, second = sets.add("", {"b": "1", "a": "1"}), sets.add("", {})
    place.now += 5
    described = sets.describe()
    assert [(each["tools"], each["unused_s"]) for each in described] == [([], 5.0), (["b", "a"], 5)]
    assert first not in str(described)
    assert second not in str(described)
