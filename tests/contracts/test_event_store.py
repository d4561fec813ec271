"""What `EventStore` promises, on every engine."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contracts.conftest import RETENTION, Engine
from toolcrib.errors import StoreError
from toolcrib.model import Event, EventKind, Json
from toolcrib.store import HOUR_S, EventFilter, EventStore

AT = 1_800_000_000.0
HOUR = int(AT // HOUR_S)


@pytest.fixture
def events(engine: Engine) -> EventStore:
    return engine.open().events


def event(number: int = 0, kind: EventKind = "call", **others: object) -> Event:
    facts: dict[str, Json] = {"pin": "p", "number": number, "ü": [1, None]}
    made = Event(AT + number, kind, "ann", name=f"tool{number}", server="git", facts=facts)
    return made._replace(seconds=0.25, query="words" if kind == "search" else "", **others)  # type: ignore[arg-type]


def test_there_is_nothing_at_first(events: EventStore):
    assert events.newest(10) == {}
    assert events.after(0, 10) == {}
    assert events.rollups(0) == []
    assert events.totals(0, ["call"], ["kind"]) == {}
    assert events.call_times(10, 0.0) == []
    assert events.conversations(10) == []


def test_events_come_back_as_they_were_under_ids_that_grow(events: EventStore):
    written = [event(0), event(1, "search"), event(2)]
    ids = [*events.write(written[:2]), *events.write(written[2:])]
    assert ids == sorted({*ids})
    assert [*events.after(0, 10).items()] == [*zip(ids, written, strict=True)]
    assert [*events.newest(10).items()] == [*reversed([*zip(ids, written, strict=True)])]


def test_the_last_are_meant_before_and_after_an_id(events: EventStore):
    ids = events.write([event(number) for number in range(6)])
    assert [*events.newest(2)] == [ids[5], ids[4]]
    assert [*events.newest(2, before=ids[3])] == [ids[2], ids[1]]
    assert [*events.after(ids[1], 2)] == [ids[4], ids[5]]
    assert [*events.after(ids[5], 2)] == []


@pytest.mark.parametrize(
    "which",
    [
        EventFilter(),
        EventFilter(kinds=("call", "list")),
        EventFilter(client="claude"),
        EventFilter(client="bob"),
        EventFilter(server="git"),
        EventFilter(server="hub", stem="mcp_hub_"),
        EventFilter(failed=True),
        EventFilter(fine=True),
        EventFilter(since=AT + 3),
        EventFilter(conversation="c1"),
        EventFilter(kinds=("call",), client="ann", failed=True, since=AT),
    ],
)
def test_a_filter_means_the_same_here_and_in_memory(events: EventStore, which: EventFilter):
    written = [
        event(0),
        event(1, "search", client="claude", conversation="c1"),
        event(2, "list", caller="bob"),
        event(3, code="tool_failed", conversation="c1"),
        event(4, server="", name="mcp_hub_x", code="unknown_tool"),
        event(5, server="hub"),
    ]
    events.write(written)
    assert [*events.after(0, 100, which).values()] == [e for e in written if which.fits(e)]


def test_roll_ups_count_by_the_hour(events: EventStore):
    events.write([event(0), event(0), event(0, code="tool_failed"), event(0, "search")])
    events.write([event(0), event(0)._replace(at=AT + HOUR_S, seconds=2.0)])
    found = [
        (key.hour, key.kind, key.code, each.count) for key, each in events.rollups(HOUR, "call")
    ]
    assert sorted(found) == [
        (HOUR, "call", "", 3),
        (HOUR, "call", "tool_failed", 1),
        (HOUR + 1, "call", "", 1),
    ]
    assert [key.hour for key, _ in events.rollups(0)] == sorted(
        k.hour for k, _ in events.rollups(0)
    )
    assert [key.hour for key, _ in events.rollups(HOUR + 1)] == [HOUR + 1]


def test_totals_add_up_what_does_not_stay_apart(events: EventStore):
    events.write([event(0), event(1), event(1, code="tool_failed"), event(1, "search")])
    by_code = events.totals(HOUR, ["call"], ["code"])
    assert {key.code: each.count for key, each in by_code.items()} == {"": 2, "tool_failed": 1}
    [total] = events.totals(HOUR, ["call", "search"], ["hour"]).values()
    assert (total.count, total.seconds, sum(total.buckets)) == (4, 1.0, 4)
    [one] = events.totals(HOUR, ["call"], ["kind"], "tool1").values()
    assert one.count == 2
    assert events.totals(HOUR + 1, ["call"], ["kind"]) == {}


def test_tokens_of_lists_add_up(events: EventStore):
    facts: dict[str, Json] = {"eager": 100, "sent": 7, "how": "exact"}
    events.write([event(0, "list", facts=facts), event(0, "list", facts=facts)])
    [total] = events.totals(HOUR, ["list"], ["how"]).values()
    assert (total.eager, total.sent) == (200, 14)


def test_when_calls_were_made_and_by_whom_is_known(events: EventStore):
    events.write([event(0), event(1, "search", caller="bob"), event(2, caller="bob"), event(3)])
    assert [*map(tuple, events.call_times(2, AT + 1))] == [
        ("ann", "tool3", AT + 3),
        ("bob", "tool2", AT + 2),
    ]


def test_conversations_are_told_of_the_latest_first(events: EventStore):
    ids = events.write(
        [
            event(0, "search", conversation="c1", client="claude"),
            event(1, conversation="c2"),
            event(2, conversation="c1", client="claude"),
            event(3),
        ]
    )
    first, second = events.conversations(10)
    assert first == ("c1", "ann", "claude", AT, AT + 2, 1, 1, ids[2])
    assert (second.conversation, second.searches, second.calls) == ("c2", 0, 1)
    assert events.conversations(1) == [first]
    assert events.conversations(10, before=ids[2]) == [second]


def test_facts_that_are_too_long_are_cut_and_the_event_stays(events: EventStore):
    events.write([event(0, facts={"long": "x" * 5_000})])
    [found] = events.newest(1).values()
    assert (found.name, found.facts) == ("tool0", {"cut": True})


def test_of_too_many_of_a_kind_the_oldest_go_and_none_of_another(events: EventStore):
    events.write([event(0, "approval")])
    for turn in range(6):
        events.write([event(turn * 250 + number) for number in range(250)])
    kept = events.after(0, 10_000, EventFilter(kinds=("call",)))
    assert RETENTION.rows <= len(kept) <= RETENTION.rows * 1.3
    assert [*kept.values()][-1].name == "tool1499"
    assert events.newest(1, EventFilter(kinds=("approval",)))


def test_two_processes_have_the_same_and_a_restart_ends_nothing(engine: Engine):
    one, other = engine.open(), engine.open()
    [first] = one.events.write([event(0)])
    [second] = other.events.write([event(1)])
    assert second > first
    assert [*one.events.after(0, 10).values()] == [event(0), event(1)]
    one.close()
    other.close()
    again = engine.open().events
    assert [*again.after(0, 10)] == [first, second]
    assert again.totals(HOUR, ["call"], ["kind"])


def test_of_what_many_write_at_once_nothing_is_lost_or_counted_twice(engine: Engine):
    places = [engine.open().events for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        done = [*threads.map(lambda n: places[n % 4].write([event(n), event(n)]), range(40))]
    ids = [id for each in done for id in each]
    assert len({*ids}) == 80
    assert {*places[0].after(0, 1_000)} == {*ids}
    assert sum(each.count for _, each in places[1].rollups(0)) == 80


def test_what_is_closed_says_so(events: EventStore):
    events.close()
    with pytest.raises(StoreError):
        events.newest(1)
