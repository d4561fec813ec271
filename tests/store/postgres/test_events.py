"""The log of events in a database answers as the one in a file, ties included."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.postgres import PostgresEngine
from toolcrib.model import Event
from toolcrib.store import EventFile, EventFilter, EventStore, Retention
from toolcrib.store.postgres.events import PostgresEvents

RETENTION = Retention(rows=10_000, days=30.0, query_days=7.0)
FILTERS = [
    EventFilter(),
    EventFilter(kinds=("call", "search")),
    EventFilter(client="ann"),
    EventFilter(server="github", stem="github_"),
    EventFilter(failed=True),
    EventFilter(fine=True, since=1_700_000_050.0),
    EventFilter(conversation="c1"),
    EventFilter(kinds=("call",), server="slack", failed=True, client="cursor"),
]


def some_events(count: int, seed: int = 1) -> list[Event]:
    chance = random.Random(seed)
    return [
        Event(
            1_700_000_000.0 + chance.choice((0, 10, 100, 4_000, 8_000)),
            chance.choice(("call", "search", "list", "reveal")),
            caller=chance.choice(("ann", "bob")),
            client=chance.choice(("", "cursor", "ann")),
            conversation=chance.choice(("", "c1", "c2", "c3")),
            name=chance.choice(("", "github_x", "slack_y", "Ünï", "b", "B")),
            server=chance.choice(("", "github", "slack")),
            seconds=chance.choice((0.0, 0.25, 0.5, 2.0)),
            code=chance.choice(("", "", "deadline", "started")),
            facts=chance.choice(({}, {"pin": "p", "eager": 5, "sent": 2, "how": "exact"})),
            query=chance.choice(("", "a question")),
        )
        for _ in range(count)
    ]


class Logs(NamedTuple):
    file: EventStore
    postgres: EventStore


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[Logs]:
    postgres = PostgresEngine(tmp_path, RETENTION).open().events
    with closing(EventFile(tmp_path / "events.db", RETENTION)) as file:
        for seed in range(4):
            batch = some_events(60, seed)
            assert [*file.write(batch)] == [*postgres.write(batch)]
        yield Logs(file, postgres)


@pytest.mark.parametrize("which", FILTERS)
def test_the_same_events_are_found(logs: Logs, which: EventFilter):
    for limit, id in ((1_000, 0), (7, 0), (7, 120)):
        assert [*logs.file.newest(limit, which, id).items()] == [
            *logs.postgres.newest(limit, which, id).items()
        ]
        assert [*logs.file.after(id, limit, which).items()] == [
            *logs.postgres.after(id, limit, which).items()
        ]


def test_the_same_is_told_of_all_of_them(logs: Logs):
    file, postgres = logs
    assert [*file.rollups(0)] == [*postgres.rollups(0)]
    assert [*file.rollups(0, "call")] == [*postgres.rollups(0, "call")]
    assert file.call_times(50, 1_700_000_005.0) == postgres.call_times(50, 1_700_000_005.0)
    assert file.conversations(10) == postgres.conversations(10)
    assert file.conversations(10, 239) == postgres.conversations(10, 239)
    for by in (("name",), ("hour", "kind"), ("server", "code")):
        for name in ("", "github_x", "none"):
            kinds = ("call", "list")
            assert file.totals(0, kinds, by, name) == postgres.totals(0, kinds, by, name)


def test_nothing_is_written_of_nothing(tmp_path: Path):
    events = PostgresEngine(tmp_path, RETENTION).open().events
    assert [*events.write([])] == []
    assert events.newest(10) == {}


def test_a_text_with_a_nul_is_kept_with_another_sign(tmp_path: Path):
    events = PostgresEngine(tmp_path, RETENTION).open().events
    events.write([Event(1.0, "call", name="a\0b", facts={"x": "\0"}, query="\0")])
    [found] = events.newest(1).values()
    assert (found.name, found.facts, found.query) == ("a\ufffdb", {"x": "\0"}, "\ufffd")


def test_who_follows_the_ids_misses_none_of_several_writers(tmp_path: Path):
    engine = PostgresEngine(tmp_path, RETENTION)
    gateways = [engine.open().events for _ in range(4)]
    reader = engine.open().events
    seen: list[int] = []

    def write(log: PostgresEvents) -> None:
        for seed in range(10):
            log.write(some_events(3, seed))

    with ThreadPoolExecutor(4) as threads:
        writing = [threads.submit(write, each) for each in gateways]
        while len(seen) < 120:
            seen += reader.after(seen[-1] if seen else 0, 1_000)
            for each in writing:
                if each.done():
                    each.result()
    assert seen == list(range(1, 121))


def test_of_a_kind_so_many_stay_and_none_that_is_too_old(tmp_path: Path):
    retention = Retention(rows=10, days=30.0, query_days=0.0)
    events = PostgresEngine(tmp_path, retention).open().events
    events.write([Event(1.0, "call", name=str(number)) for number in range(30)])
    events.write([Event(1.0, "search", query="a question") for _ in range(3)])
    kept = events.newest(100)
    assert [event.name for event in kept.values() if event.kind == "call"] == [
        str(number) for number in range(29, 19, -1)
    ]
    assert {event.query for event in kept.values()} == {""}
