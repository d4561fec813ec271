"""What screens find in the log of events: figures, pages, stories, and what comes."""

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pytest

from tests.dashboard.eventful import call, listed, search, write
from toolcrib.dashboard import event_queries
from toolcrib.dashboard.backends import watch_nothing
from toolcrib.dashboard.event_queries import DayFigures, EventPage, EventQueries
from toolcrib.model import Event, Json
from toolcrib.observe import LoggedEvent
from toolcrib.settings import ObserveSettings, Settings
from toolcrib.store import HOUR_S, EventFilter

NOW = 1_700_000_000.0 // HOUR_S * HOUR_S + 1_800
EVERY = EventFilter()


class Texts:
    """A gateway that remembers some queries."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self.texts, self.asked = texts or {}, list[Sequence[Any]]()

    def __call__(self, do: str, /, **more: Json) -> Json:
        assert do == "queries"
        ids: Any = more["ids"]
        self.asked.append(ids)
        return {"texts": {str(id): self.texts[str(id)] for id in ids if str(id) in self.texts}}


def queries(ask: Any = None, watch: Any = watch_nothing, settings: Any = Settings) -> EventQueries:
    return EventQueries(settings, ask or Texts(), watch)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_queries, "POLL_S", 0.001)


def test_a_log_that_is_off_or_empty_is_told_apart_and_nothing_is_made():
    assert queries().day() == DayFigures("empty")
    assert queries().page(EVERY) == EventPage("empty", {})
    path = Settings().events_path
    assert path
    assert not path.exists()
    off = Settings(observe=ObserveSettings(enabled=False))
    assert queries(settings=lambda: off).day() == DayFigures("off")
    assert queries(settings=lambda: off).clients() == []


def test_the_day_is_counted_by_the_hour():
    events = [
        *[search("x", NOW - hour * HOUR_S) for hour in range(40)],
        *[call(at=NOW, seconds=0.2) for _ in range(18)],
        call(at=NOW, seconds=9.0, code="timeout"),
        call(at=NOW, seconds=9.0, code="failed"),
        listed(90_000, 2_000, NOW - 2 * HOUR_S),
        listed(90_000, 2_000, NOW),
        listed(90_000, 2_000, NOW - 30 * HOUR_S),
    ]
    write(events)
    day = queries().day(NOW)
    assert (day.searches, day.calls, day.errors) == (24, 20, 2)
    assert 5.0 < day.p95_s <= 10.0
    assert len(day.hours) == 24
    assert [each.saved for each in day.hours if each.saved] == [88_000, 88_000]
    assert day.hours[-1].hour == NOW // HOUR_S
    assert (day.saved, day.how) == (176_000, "counted with o200k_base")


def test_a_page_goes_on_where_the_last_one_ended():
    write([call(f"t{number}") for number in range(25)])
    seen: list[str] = []
    before, more = 0, True
    while more:
        found = queries().page(EVERY, before, rows=10)
        seen += [each.name for each in found.events.values()]
        before, more = min(found.events), found.more
    assert seen == [f"t{number}" for number in reversed(range(25))]


def test_only_what_was_chosen_is_shown():
    events = [
        call(),
        call(code="timeout"),
        call(server="git", client="zed"),
        search("x"),
        call("mcp_mail_nix", server=""),
    ]
    ids = write(events)
    choose = queries().filter_of

    def found(*chosen: str) -> set[int]:
        return {id - ids[0] for id in queries().page(choose(*chosen)).events}

    assert found("", "", "", "") == {0, 1, 2, 3, 4}
    assert found("call", "", "", "") == {0, 1, 2, 4}
    assert found("", "zed", "", "") == {2}
    assert found("", "", "mail", "") == {0, 1, 4}
    assert found("", "", "", "failed") == {1}
    assert found("call", "cursor", "mail", "ok") == {0, 4}


def test_what_comes_is_chosen_as_what_is_in_the_file_is():
    events = [
        call(),
        call(code="x", client="zed"),
        search(""),
        call("mcp_mail_a", server="", at=5.0),
    ]
    ids = write(events)
    for which in (
        EVERY,
        EventFilter(("call",)),
        EventFilter(client="zed"),
        EventFilter(client="local@default"),
        EventFilter(server="mail"),
        EventFilter(server="mail", stem="mcp_mail_"),
        EventFilter(failed=True),
        EventFilter(fine=True),
        EventFilter(fine=True, failed=True),
        EventFilter(since=10.0),
        EventFilter(conversation="c1"),
        EventFilter(conversation="c2"),
    ):
        fitting = {id for id, event in zip(ids, events, strict=True) if which.fits(event)}
        assert set(queries().page(which).events) == fitting, which


def test_texts_that_are_in_no_file_are_asked_of_the_gateway():
    first, second, third = write([search(), search("kept"), search()])
    ask = Texts({str(first): "mail an invoice"})
    events = queries(ask).page(EVERY).events
    assert {id: each.query for id, each in events.items()} == {
        first: "mail an invoice",
        second: "kept",
        third: "",
    }
    assert ask.asked == [[third, first]]


def test_the_story_of_an_event_is_its_conversation_with_the_starts_meanwhile():
    at = time.time()
    start = Event(at + 0.1, "server", server="mail", seconds=1.2, code="started")
    mine = [search("x", at - 9), call(at=at, seconds=2.0)]
    ids = write([mine[0], call(conversation="c2"), start, mine[1]])
    story = queries().story(ids[3])
    assert [each.kind for each in story.events.values()] == ["search", "call"]
    assert story.starts == (start,)
    assert queries().story(ids[1]).events.keys() == {ids[1]}
    assert queries().story(999).events == {}
    assert queries().story(0).events == {}


def told(*events: tuple[int, Event]) -> Mapping[str, Any]:
    return {"events": [LoggedEvent(*each).as_json() for each in events], "skipped": 0}


def some(coming: Iterator[Sequence[LoggedEvent]], turns: int) -> list[LoggedEvent]:
    return [each for events in islice(coming, turns) for each in events]


def test_what_comes_is_followed_in_the_file_without_a_gateway():
    write([call("old")])
    coming = queries(Texts({"2": "mail"})).coming()
    assert some(coming, 3) == []
    ids = write([search(), call("new")])
    assert [(each.id, each.event.query) for each in some(coming, 1)] == [(ids[0], "mail"), (3, "")]
    assert some(coming, 2) == []


def test_what_the_gateway_tells_and_what_others_write_come_once_each():
    first = write([call("old")])[-1]
    mine, other = search("with its text"), call("by another process")

    def watch() -> Iterator[Mapping[str, Any]]:
        yield told()
        write([mine._replace(query=""), other])
        yield told((first + 1, mine))
        yield told((first + 1, mine))
        raise ConnectionError

    coming = queries(watch=watch).coming()
    found = some(coming, 4)
    assert [(each.event.name, each.event.query) for each in found] == [
        ("", "with its text"),
        ("by another process", ""),
    ]


def test_without_a_file_there_is_what_the_gateway_tells():
    def watch() -> Iterator[Mapping[str, Any]]:
        yield told((1, call("a")))
        yield told((2, call("b")))

    off = Settings(observe=ObserveSettings(enabled=False))
    coming = queries(watch=watch, settings=lambda: off).coming()
    assert [each.event.name for each in some(coming, 6)] == ["a", "b", "a", "b"]
