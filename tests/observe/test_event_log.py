"""The one path of events: nobody waits, nobody fails, and what is lost is counted and told."""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Event as Signal

import pytest

from tests.defaults import RETENTION
from tests.waiting import until
from toolcrib.errors import StoreAway, StoreError
from toolcrib.model import Event
from toolcrib.observe import EventLog, LoggedEvent, event_log, event_spool
from toolcrib.observe.event_log import MOST_WAITING
from toolcrib.observe.event_spool import EventSpool
from toolcrib.observe.watcher import MOST_QUERIES, MOST_UNTAKEN, Watcher
from toolcrib.store import EventFile, EventFilter

NOW = 1_000_000_000.0
SECRET = "mail bob@example.org about 4111 1111 1111 1111"


def search(query: str = "") -> Event:
    return Event(NOW, "search", "ann", facts={"hits": []}, query=query)


def call(name: str) -> Event:
    return Event(NOW, "call", "ann", name=name, facts={"pin": "p"})


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "PAUSE_S", 0.01)
    monkeypatch.setattr(event_log, "AGAIN_S", 0.01)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.db"


@pytest.fixture
def log(path: Path) -> EventLog:
    return EventLog(partial(EventFile, path, RETENTION))


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Signal:
    """Nothing is handed on until this is set."""
    free, hand_on = Signal(), EventLog._hand_on

    def wait(log: EventLog) -> None:
        free.wait()
        hand_on(log)

    monkeypatch.setattr(EventLog, "_hand_on", wait)
    return free


def written(path: Path, *kinds: str) -> list[Event]:
    file = EventFile(path, RETENTION)
    try:
        return list(file.after(0, 1_000_000, EventFilter(kinds)).values())  # pyright: ignore[reportArgumentType]
    finally:
        file.close()


def test_nothing_is_opened_before_the_first_event(log: EventLog, path: Path):
    before = {*threading.enumerate()}
    log.close()
    assert not path.exists()
    assert {*threading.enumerate()} <= before


def test_what_waits_is_written_when_it_closes(log: EventLog, path: Path):
    for number in range(500):
        log.append(call(str(number)))
    log.append_later("call", lambda: call("later"))
    log.close()
    assert [each.name for each in written(path)] == [*map(str, range(500)), "later"]
    assert log.dropped == 0


def test_it_is_written_soon_without_an_end(log: EventLog, path: Path):
    log.append(call("soon"))
    until(lambda: path.exists() and written(path))
    log.append(call("later"))
    until(lambda: len(written(path)) == 2)
    log.close()


def test_without_a_file_and_without_anybody_who_looks_on_nothing_happens():
    before = {*threading.enumerate()}
    log = EventLog()
    log.append(search("x"))
    log.append_later("call", lambda: 1 / 0)  # pyright: ignore[reportArgumentType]
    assert {*threading.enumerate()} <= before
    assert not log._waiting
    log.close()


@pytest.mark.plan(81)
def test_a_flood_is_bounded_counted_and_told_and_keeps_no_call_out(
    log: EventLog, path: Path, held: Signal, caplog: pytest.LogCaptureFixture
):
    for _ in range(3 * MOST_WAITING):
        log.append(search())
    log.append(call("among them"))
    assert len(log._waiting) <= MOST_WAITING + 1
    with caplog.at_level(logging.WARNING):
        held.set()
        log.close()
    assert log.dropped == 2 * MOST_WAITING
    assert f"{log.dropped} events are not logged: too many came at once" in caplog.text
    assert [each.name for each in written(path, "call")] == ["among them"]
    assert len(written(path, "search")) == MOST_WAITING


@pytest.mark.plan(81)
def test_a_flood_of_calls_is_bounded_too(log: EventLog, held: Signal):
    for _ in range(3 * MOST_WAITING):
        log.append(call("x"))
    assert len(log._waiting) <= 2 * MOST_WAITING
    held.set()
    log.close()
    assert log.dropped == MOST_WAITING


def test_many_threads_lose_nothing(log: EventLog, path: Path):
    def work(thread: int) -> None:
        for number in range(500):
            log.append(call(f"{thread}.{number}"))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    log.close()
    assert {each.name for each in written(path)} == {
        f"{thread}.{number}" for thread in range(8) for number in range(500)
    }


def test_an_event_that_cannot_be_made_costs_no_other(
    log: EventLog, path: Path, caplog: pytest.LogCaptureFixture
):
    def fail() -> Event:
        raise RuntimeError("this one")

    log.append_later("call", fail)
    log.append(call("other"))
    log.append(call("odd\ud800\0name")._replace(seconds=float("nan")))
    log.close()
    assert [each.name for each in written(path)] == ["other", "odd⟨U+D800⟩⟨U+0000⟩name"]
    assert log.dropped == 1
    assert "an event could not be made" in caplog.text


def test_what_cannot_be_written_is_told_once_and_written_later_in_order(
    log: EventLog, path: Path, caplog: pytest.LogCaptureFixture
):
    path.mkdir()
    with caplog.at_level(logging.WARNING):
        for number in range(1, 4):
            log.append(call(f"waits {number}"))
            until(lambda number=number: len(log.spool) == number)
        path.rmdir()
        until(lambda: not log.spool)  # without another event
        log.append(call("after"))
        log.close()
    assert caplog.text.count("events wait to be logged") == 1
    assert [each.name for each in written(path)] == ["waits 1", "waits 2", "waits 3", "after"]
    assert log.dropped == 0


@pytest.mark.plan(82)
def test_a_full_disk_costs_events_and_nothing_else(
    log: EventLog, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(EventFile, "write", full)
    with caplog.at_level(logging.WARNING):
        log.append(call("look"))
        log.close()
    assert "1 events wait to be logged: the disk is full" in caplog.text
    assert "1 events are not logged: the process ends" in caplog.text
    assert log.dropped == 1


def test_what_waits_outlasts_the_process(path: Path):
    path.mkdir()
    spool = path.with_name("events.waiting")
    before = EventLog(partial(EventFile, path, RETENTION), spool=spool)
    before.append(call("waits"))
    before.close()
    assert before.dropped == 0
    assert [each.name for each in path.parent.glob("events.waiting*")] == ["events.waiting"]
    assert spool.stat().st_mode & 0o077 == 0
    with spool.open("ab") as file:
        file.write(b'[["cut o')  # the process was killed while it wrote
    path.rmdir()
    again = EventLog(partial(EventFile, path, RETENTION), spool=spool)
    again.append(call("after"))
    again.close()
    assert [each.name for each in written(path)] == ["waits", "after"]
    assert list(path.parent.glob("events.waiting*")) == []


def test_what_a_process_that_runs_has_waiting_is_nobody_elses(tmp_path: Path):
    shared = tmp_path / "events.waiting"
    ours, gone = EventSpool(shared), tmp_path / f"events.waiting.{ended_process()}-0"
    assert ours.add([call("ours")]) == 0
    assert len(EventSpool(shared)) == 0
    gone.write_text('[[1.0, "call", "ann"]]\n')
    assert len(EventSpool(shared)) == 1
    assert not gone.exists()
    assert len(EventSpool(shared)) == 0, "it was taken over once"
    gone.with_name(f"events.waiting.{os.getpid()}-0").write_text('[[1.0, "call", "ann"]]\n')
    assert len(EventSpool(shared)) == 1, "in a container the next process has the same id"


def ended_process() -> int:
    """The id of a process that there is no more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_what_was_written_though_nobody_heard_is_written_once(log: EventLog, path: Path):
    heard, write = list[int](), EventFile.write

    def unheard(file: EventFile, events: Sequence[Event]) -> range:
        ids = write(file, events)
        heard.extend(ids)
        if len(heard) == 1:
            raise StoreAway("the connection broke after the commit")
        return ids

    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(EventFile, "write", unheard)
        log.append(call("one"))
        until(lambda: heard and not log.spool)
        log.append(call("two"))
        log.close()
    assert [each.name for each in written(path)] == ["one", "two"]


@pytest.mark.plan(81)
def test_what_waits_is_bounded_and_searches_keep_no_call_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_spool, "MOST_BYTES", 4_000)
    spool = EventSpool()
    lost = [spool.add([search()]) for _ in range(100)]
    assert 0 < lost.index(1) < 50
    assert spool.add([search(), call("x")]) == 1
    assert [spool.add([call("x")]) for _ in range(100)][-1] == 1


@pytest.mark.plan(83)
@pytest.mark.parametrize("keep", [False, True])
def test_the_text_of_a_query_is_in_no_file_unless_it_is_kept_and_then_masked(
    path: Path, *, keep: bool
):
    retention = RETENTION._replace(query_days=7.0)
    log = EventLog(partial(EventFile, path, retention), keep_queries=keep)
    log.append(search(SECRET))
    log.close()
    (event,) = written(path)
    assert event.query == ("mail *** about ***" if keep else "")
    kept = b"".join(each.read_bytes() for each in path.parent.glob("events.db*"))
    assert b"bob@" not in kept
    assert b"4111" not in kept
    assert log.queries.of([1]) == {1: SECRET}


def test_texts_in_memory_are_bounded_in_number_and_in_length(log: EventLog):
    for number in range(MOST_QUERIES + 10):
        log.append(search(f"{number} " + "long\n" * 9_999))
    log.close()
    assert not log.queries.of(range(1, 11))
    texts = log.queries.of(range(11, MOST_QUERIES + 11)).values()
    assert len(texts) == MOST_QUERIES
    assert max(map(len, texts)) <= 1_000
    assert "\n" not in next(iter(texts))


def noticed() -> tuple[list[str], Callable[[], None]]:
    heard: list[str] = []
    return heard, lambda: heard.append("ready")


def test_whoever_looks_on_sees_what_comes_with_its_text(log: EventLog):
    heard, on_ready = noticed()
    watcher = log.watch(on_ready)
    log.append(search("send a mail"))
    until(lambda: heard)
    (seen,), skipped = watcher.take()
    assert seen == LoggedEvent(1, search("send a mail"))
    assert skipped == 0
    log.unwatch(watcher)
    log.append(search("another"))
    log.close()
    assert watcher.take() == ([], 0)


def test_without_a_file_those_who_look_on_are_served():
    log = EventLog()
    watcher = log.watch(lambda: None)
    log.append(search("one"))
    log.append(search("two"))
    log.close()
    assert [each.id for each in watcher.take().events] == [1, 2]
    assert watcher.ended
    log.unwatch(watcher)
    assert not log._is_heard


@pytest.mark.plan(81)
def test_whoever_is_slow_skips_and_is_told(log: EventLog):
    slow, quick = log.watch(lambda: None), list[LoggedEvent]()
    other: Watcher = log.watch(lambda: quick.extend(other.take().events))
    for number in range(3 * MOST_UNTAKEN):
        log.append(search(str(number)))
        if number % 500 == 0:
            until(lambda: not log._waiting)
    log.close()
    events, skipped = slow.take()
    assert [each.event.query for each in events] == [
        str(number) for number in range(2 * MOST_UNTAKEN, 3 * MOST_UNTAKEN)
    ]
    assert skipped == 2 * MOST_UNTAKEN
    assert slow.take() == ([], 0)
    assert len(quick) == 3 * MOST_UNTAKEN


def test_a_watcher_that_fails_costs_nobody_anything(
    log: EventLog, path: Path, caplog: pytest.LogCaptureFixture
):
    def fail() -> None:
        raise RuntimeError("the loop is closed")

    log.watch(fail)
    seen = log.watch(lambda: None)
    log.append(call("one"))
    log.close()
    assert len(seen.take().events) == 1
    assert len(written(path)) == 1
    assert "looks on" in caplog.text


def test_a_log_that_nothing_comes_to_has_no_thread(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_log, "IDLE_S", 0.0)
    log = EventLog(lambda: EventFile(path, RETENTION))
    for name in ("first", "second"):
        log.append(call(name))
        until(lambda: log._thread is None, "the thread has ended")
    log.close()
    with closing(EventFile(path, RETENTION)) as file:
        assert [each.name for each in file.after(0, 10).values()] == ["first", "second"]
