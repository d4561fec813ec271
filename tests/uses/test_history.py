import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from tests.waiting import HANG_S
from toolcrib.errors import StoreError
from toolcrib.store import SqliteStore, UsePair, UseRecord, UseStore
from toolcrib.uses import UseHistory
from toolcrib.uses import history as module
from toolcrib.uses.history import DAY_S

EVERYONE = b"everyone"


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 20_000.0 * DAY_S

    def __call__(self) -> float:
        return self.now


class Place:
    """A catalog file that is opened when it is there or has to be made."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store: SqliteStore | None = None

    def __call__(self, *, make: bool) -> UseStore | None:
        if self.store is None and (make or self.path.exists()):
            self.store = SqliteStore.open(self.path)
        return self.store


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path / "catalog.db")
    yield place
    if place.store:
        place.store.close()


def play(uses: UseHistory, *tools: str, caller: str = "c", times: int = 1) -> None:
    for _ in range(times):
        for tool in tools:
            uses.called(caller, tool)


def lead(
    uses: UseHistory,
    tool: str,
    *words: str,
    callers: Iterable[str] = "ab",
    profile: bytes = EVERYONE,
) -> None:
    """A search with these words leads each of the callers to a tool."""
    for caller in callers:
        uses.searched(caller, profile, words, [tool, "other"])
        uses.called(caller, tool)


def test_what_is_called_after_one_another_is_often_with():
    uses = UseHistory()
    play(uses, "read", "write", times=2)
    told = uses.often_with({})
    assert told("read") == ("write",)
    assert told("nothing") == ()


def test_conversations_do_not_mix():
    uses = UseHistory()
    for number in range(5):
        uses.called(f"one{number}", "read")
        uses.called(f"two{number}", "write")
    assert uses.record().pairs == {}


def test_declared_links_are_told_beside_use():
    uses = UseHistory()
    play(uses, "read", "write", times=2)
    assert uses.often_with({"read": ("skill",)})("read") == ("skill", "write")
    hints = uses.hints("read", {"read": ("skill",)})
    assert (hints.links, hints.followers) == (("skill",), {"write": 2})
    assert hints.predecessors == {"write": 1}


def test_in_memory_nothing_is_written_and_no_thread_waits():
    uses = UseHistory()
    play(uses, "read", "write", times=2)
    assert uses._timer is None
    assert not uses._unwritten
    uses.close()


def test_nothing_is_written_before_there_is_something_to_write(place: Place):
    uses = UseHistory(place)
    uses.called("c", "read")
    assert uses.often_with({})("read") == ()
    uses.close()
    assert not place.path.exists()


def test_what_was_pending_is_there_for_the_next(place: Place):
    uses = UseHistory(place)
    play(uses, "read", "write")
    uses.close()
    again = UseHistory(place)
    play(again, "read", "write")
    assert again.often_with({})("read") == ("write",)
    assert again.record().pairs == {UsePair("read", "write"): 2}


def test_it_is_written_by_itself_after_a_while(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "WRITE_EVERY_S", 0.01)
    uses = UseHistory(place)
    play(uses, "read", "write")
    timer = uses._timer
    assert timer
    timer.join(HANG_S)
    assert UseHistory(place).record().pairs == {UsePair("read", "write"): 1}
    assert uses._timer is None
    uses.close()


def test_what_another_wrote_is_pending_with_the_next_write(place: Place):
    one, two = UseHistory(place), UseHistory(place)
    assert one.often_with({})("a") == ()
    play(two, "a", "b", times=3)
    two.close()
    play(one, "x", "y")
    one.write()
    assert one.often_with({})("a") == ("b",)


def test_many_threads_may_call_at_once(place: Place):
    uses = UseHistory(place)
    threads = [
        Thread(target=play, args=(uses, "a", "b"), kwargs={"caller": f"c{n}", "times": 2})
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    uses.close()
    assert UseHistory(place).record().pairs == {UsePair("a", "b"): 16, UsePair("b", "a"): 8}


def test_two_conversations_teach_a_lesson_and_one_does_not():
    uses = UseHistory()
    lead(uses, "send", "mail", "boss", callers="a")
    lead(uses, "send", "mail", "boss", callers="a")
    assert uses.shares(EVERYONE, ["mail", "boss"]) == {}
    lead(uses, "send", "mail", "boss", callers="b")
    assert uses.shares(EVERYONE, ["mail", "boss"]) == {"send": 0.5}
    assert uses.shares(b"restricted", ["mail", "boss"]) == {}


def test_a_lesson_fades_with_the_clock():
    clock = Clock()
    uses = UseHistory(clock=clock, half_life_days=10)
    lead(uses, "send", "mail", callers="abcd")
    assert uses.shares(EVERYONE, ["mail"]) == {"send": 1.0}
    clock.now += 10 * DAY_S
    assert uses.shares(EVERYONE, ["mail"]) == {"send": pytest.approx(0.5)}


def test_a_search_long_ago_teaches_nothing():
    clock = Clock()
    uses = UseHistory(clock=clock)
    for caller in "ab":
        uses.searched(caller, EVERYONE, ["mail"], ["send"])
    clock.now += 3600
    for caller in "ab":
        uses.called(caller, "send")
    assert uses.record().lessons == {}


def test_lessons_last(place: Place):
    uses = UseHistory(place)
    lead(uses, "send", "mail", callers="a")
    uses.close()
    again = UseHistory(place)
    lead(again, "send", "mail", callers="a")
    again.close()
    assert UseHistory(place).shares(EVERYONE, ["mail"]) == {"send": pytest.approx(0.5, rel=0.1)}


def test_no_word_of_a_query_and_no_caller_is_in_the_file(place: Place):
    uses = UseHistory(place)
    lead(uses, "send_mail", "zebra", callers=["caller-one", "caller-two"])
    play(uses, "send_mail", "read_mail")
    uses.close()
    assert place.store
    place.store.close()
    place.store = None
    bytes_ = place.path.read_bytes()
    assert b"send_mail" in bytes_
    assert b"zebra" not in bytes_
    assert b"caller-one" not in bytes_


@pytest.mark.parametrize("lasting", [True, False])
def test_all_is_erased_or_what_is_about_one_tool(place: Place, lasting: bool):
    uses = UseHistory(place if lasting else None)
    play(uses, "a", "b", "c")
    lead(uses, "b", "mail")
    assert uses.forget("b") == 3
    assert list(uses.record().pairs) == [UsePair("a", "c")]
    assert uses.record().lessons == {}
    assert uses.forget() == 1
    assert uses.record().pairs == {}
    uses.close()
    if lasting:
        assert UseHistory(place).record().pairs == {}


class Broken:
    """A store whose disk does not answer."""

    def used(self) -> UseRecord:
        raise StoreError("the disk does not answer")

    def keep_used(self, more: UseRecord, *, half_life_days: float) -> None:
        raise StoreError(f"the disk is full: {more} {half_life_days}")

    def forget_used(self, tool: str = "") -> int:
        raise StoreError(f"the disk does not answer: {tool}")


def broken(*, make: bool) -> UseStore:
    assert make in (True, False)
    return Broken()


def test_a_broken_store_costs_the_hints_and_no_more(caplog: pytest.LogCaptureFixture):
    uses = UseHistory(broken)
    with caplog.at_level(logging.WARNING):
        play(uses, "a", "b", times=2)
        assert uses.often_with({})("a") == ("b",)
        uses.close()
    said = " ".join(caplog.messages)
    assert "does not answer" in said
    assert "is full" in said


def test_whoever_asks_for_what_is_kept_hears_that_it_cannot_be_read():
    with pytest.raises(StoreError):
        UseHistory(broken).record()
    with pytest.raises(StoreError):
        UseHistory(broken).forget()
