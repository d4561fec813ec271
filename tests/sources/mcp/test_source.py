import asyncio
import json
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.plan import amount
from tests.sources.mcp.conftest import acall, call
from tests.sources.mcp.faking import FAKE, error, fake, left_of, text
from tests.waiting import HANG_S, let_pass, until, until_async
from toolcrib.errors import UnknownTool
from toolcrib.model import Call, CallContext, Deadline, deadline
from toolcrib.sources.mcp import ServerCommand, ServerConfig


def test_what_was_never_reached_has_no_tools_and_says_so(shop):
    source = shop.source(fake())
    assert source.capabilities() == ()
    assert "toolcrib refresh" in source.problems[0]
    assert shop.processes() == set()
    with pytest.raises(UnknownTool):
        call(source, "echo")


def test_a_refresh_starts_it_once_and_the_list_stays(shop):
    source = shop.source(fake())
    done = source.refresh().result(HANG_S)
    assert (done.server, done.tools, done.error) == ("fake", 12, "")
    assert source.state("echo") == "ready"
    shop.reopen()
    later = shop.source(fake())
    assert len(later.capabilities()) == 12
    assert later.problems == ()
    assert later.state("echo") == "asleep"
    assert shop.processes() == set()
    assert later.status().tools == 12
    assert later.status().start_s > 0


def test_the_seconds_of_a_refresh_begin_with_its_turn(shop):
    source = shop.source(fake())
    room = shop.loop

    async def all_turns_taken() -> None:
        while not room.starts.locked():
            await room.starts.acquire()

    async def give_back() -> None:
        room.starts.release()

    room.submit(all_turns_taken()).result(HANG_S)
    waits = source.refresh()
    let_pass(0.2)
    given = time.monotonic()
    room.submit(give_back()).result(HANG_S)
    done = waits.result(HANG_S)
    assert done.error == ""
    assert 0 < done.seconds <= time.monotonic() - given


def test_a_refresh_is_done_when_whoever_watches_has_taken_it_in(shop):
    source = shop.listed(fake())
    is_told, may_end = threading.Event(), threading.Event()

    def take_in():
        is_told.set()
        may_end.wait(HANG_S)

    source.watch(take_in)
    refreshed = source.refresh()
    until(is_told.is_set)
    assert call(source, "echo", text="the loop of the servers has had many turns since").ok
    assert not refreshed.done()
    may_end.set()
    assert refreshed.result(HANG_S).error == ""


def test_another_configuration_is_another_server(shop):
    shop.listed(fake())
    assert shop.source(fake("junk")).capabilities() == ()


def test_a_call_starts_it_and_idleness_stops_it(shop):
    source = shop.listed(fake(idle_timeout_s=0.3))
    changes = []
    source.watch(lambda: changes.append(source.state("echo")))
    said = call(source, "echo", text="hi")
    assert said.content == [{"type": "text", "text": "hi"}]
    until(lambda: source.state("echo") == "asleep")
    assert "ready" in changes
    assert left_of(shop.processes()) == {}
    until(lambda: changes[-1:] == ["asleep"])
    assert call(source, "echo", text="again").ok


def test_it_is_not_stopped_while_a_call_runs(shop):
    source = shop.listed(fake(idle_timeout_s=0.2))
    assert call(source, "sleep", s=0.8).ok


def test_callers_on_many_loops_share_one_process(shop):
    source = shop.listed(fake())
    pids = []

    def ask():
        pids.append(text(call(source, "pid")))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 8
    assert len(set(pids)) == 1


def test_progress_arrives_on_the_callers_own_thread(shop):
    source = shop.listed(fake())
    heard = []

    async def ask():
        def told(*news):
            heard.append((threading.get_ident(), news))

        return await source.call(Call("progress"), CallContext(Deadline(HANG_S), told))

    assert asyncio.run(ask()).ok
    assert [news for _, news in heard] == [(step, 9.0, "on") for step in (0.0, 1.0, 2.0)]
    assert {thread for thread, _ in heard} == {threading.get_ident()}


def test_cancelling_a_call_frees_the_server(shop):
    source = shop.listed(fake())

    async def ask():
        begun = asyncio.Event()
        running = CallContext(Deadline(HANG_S), lambda *_: begun.set())
        task = asyncio.create_task(source.call(Call("progress", {"pause": 600}), running))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await acall(source, "echo", text="free")

    assert asyncio.run(ask()).ok


def test_a_crash_is_told_and_the_next_call_starts_it_anew(shop):
    source = shop.listed(fake())
    before = text(call(source, "pid"))
    crashed = error(call(source, "crash"))
    assert (crashed.code, crashed.effect, crashed.retryable) == ("connection_lost", "unknown", True)
    assert "exit status 3" in crashed.message
    after = call(source, "pid")
    assert after.ok
    assert text(after) != before


@pytest.mark.plan(20)
def test_a_server_that_fails_at_once_is_left_alone_and_stays_searchable(shop):
    shop.listed(fake())
    counter = shop.folder / "starts"
    code = f"open({str(counter)!r}, 'a').write('x'); import sys; sys.exit('no licence')"
    broken = fake()
    source = shop.source(broken)
    source._config = source._supervisor.config = replace(
        broken, transport=ServerCommand(sys.executable, ("-S", "-c", code))
    )
    errors = [error(call(source, "echo")) for _ in range(amount(20, "calls"))]
    codes = {failed.code for failed in errors}
    assert codes == {"start_failed", "unavailable"}
    assert "no licence" in errors[0].message
    assert {(failed.phase, failed.effect) for failed in errors} == {("start", "not_sent")}
    assert 2 <= len(counter.read_text()) <= 2 * 6  # both eras are tried at each start
    assert len(source.capabilities()) == 12
    assert source.status().failure.code == "start_failed"


def test_a_server_that_hangs_is_let_go_after_a_while(shop):
    source = shop.listed(fake())
    pid = text(call(source, "pid"))
    for _ in range(5):
        assert error(call(source, "sleep", within=0.1)).code == "deadline"
    until(lambda: source.state("echo") == "asleep")
    again = call(source, "pid")
    assert again.ok
    assert text(again) != pid


def test_a_call_that_is_late_says_by_which_limit(shop):
    source = shop.listed(fake(call_timeout_s=0.1))
    call(source, "pid")  # so that it is up
    by_caller = error(call(source, "sleep", within=0.05)).message
    assert "'fake': no answer in time (0.1 s, by `timeout_s` of the call)" in by_caller
    limits = CallContext(Deadline.by_default(HANG_S))
    by_server = error(asyncio.run(source.call(Call("sleep"), limits))).message
    assert "(0.1 s, by `call_timeout_s` in the entry of its server)" in by_server


def test_a_server_has_its_own_time_where_the_call_sets_none(shop):
    source = shop.listed(fake(call_timeout_s=HANG_S))
    pid = text(call(source, "pid"))
    limits = CallContext(Deadline.by_default(10))
    late = asyncio.run(source.call(Call("sleep", {"s": 0.1}), limits))
    assert late.ok
    assert limits.deadline.left_s > 10
    assert text(call(source, "pid")) == pid


def test_progress_begins_the_time_of_a_call_anew(shop, monkeypatch):
    """Each time something is heard of it, the clock has gone on by most of its limit."""
    source = shop.listed(fake(call_timeout_s=1_000.0))
    clock = SimpleNamespace(gone_s=0, monotonic=lambda: time.monotonic() + clock.gone_s)
    monkeypatch.setattr(deadline, "time", clock)
    limits, left = CallContext(Deadline.by_default(60)), list[float]()
    renew = Deadline.renew

    def later(of_call: Deadline) -> None:
        clock.gone_s += 900
        renew(of_call)
        left.append(of_call.left_s)

    monkeypatch.setattr(Deadline, "renew", later)
    assert asyncio.run(source.call(Call("progress"), limits)).ok
    assert len(left) == 3
    assert min(left) > 900


def test_how_many_calls_run_and_wait_stands_in_its_entry(shop):
    source = shop.listed(fake(calls_at_once=3, calls_waiting=2))

    async def crowd():
        tasks = [asyncio.create_task(acall(source, "sleep", s=600)) for _ in range(5)]
        await until_async(lambda: source.calls == (3, 2))
        refused = await acall(source, "echo")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return error(refused)

    refused = asyncio.run(crowd())
    assert (refused.code, refused.effect) == ("overloaded", "not_sent")
    assert "3 calls running and 2 waiting" in refused.message
    assert "`calls_at_once` and `calls_waiting`" in refused.message


def test_a_start_that_takes_too_long_ends_at_its_deadline(shop):
    shop.listed(fake())
    slow = fake(start_timeout_s=0.6)
    source = shop.source(slow)
    source._supervisor.config = replace(slow, transport=fake("hang-spawn").transport)
    failed = error(call(source, "echo"))
    assert (failed.code, failed.phase, failed.effect) == ("start_timeout", "start", "not_sent")


def test_a_callers_deadline_comes_first(shop):
    shop.listed(fake())
    source = shop.source(fake())
    source._supervisor.config = fake("hang-spawn", start_timeout_s=600)
    assert error(call(source, "echo", within=0.5)).code == "start_timeout"


def test_a_tool_that_is_gone_is_not_called(shop):
    shop.listed(fake())
    source = shop.source(fake())
    source._supervisor.config = fake("endless-cursor")
    known = source._memory.known
    source._memory._write(replace(known, listing=replace(known.listing, complete=False)))
    assert source.state("echo") == "asleep"
    failed = error(call(source, "echo"))
    assert (failed.code, failed.effect) == ("unknown_tool", "not_sent")


def test_of_20_000_tools_each_is_listed_and_can_be_called(shop):
    source = shop.listed(fake("many"))
    assert source.status().tools == 20_000
    assert source.status().cut_words == ""
    assert text(call(source, "t19999")) == "t19999"


def test_one_large_page_is_whole(shop):
    assert shop.listed(fake("huge-list")).status().tools == 6_000


@pytest.mark.plan(22)
def test_a_list_without_end_does_not_replace_a_good_one(shop):
    shop.listed(fake())
    source = shop.source(fake())
    source._supervisor.config = fake("endless-cursor")
    source.refresh().result(HANG_S)
    assert len(source.capabilities()) == 12
    assert "lists tools without end" in source.problems[0]


def test_a_disabled_server_is_listed_and_never_started(shop):
    shop.listed(fake())
    source = shop.source(fake(disabled=True))
    assert {tool.enabled for tool in source.capabilities()} == {False}
    assert error(call(source, "echo")).code == "disabled"
    assert shop.processes() == set()


def test_a_variable_that_is_missing_is_named(shop):
    shop.listed(fake())
    source = shop.source(fake())
    source._supervisor.config = ServerConfig(
        "fake", ServerCommand("x", env_from={"T": "NO_SUCH_VARIABLE"})
    )
    failed = error(call(source, "echo"))
    assert (failed.code, failed.retryable) == ("not_configured", False)
    assert "NO_SUCH_VARIABLE" in failed.message


@pytest.mark.plan(21)
@pytest.mark.parametrize("mode", ["storm", "loop"])
def test_a_storm_of_changes_is_listed_once_a_second(shop, mode):
    source = shop.listed(fake(mode))
    changes = []
    source.watch(lambda: changes.append(time.monotonic()))
    started = time.monotonic()
    assert call(source, "echo", text="x").ok
    until(lambda: any(tool.name.startswith("seen_") for tool in source.capabilities()))
    let_pass(amount(21, "seconds"))
    listed = int(text(call(source, "listed")))
    took = time.monotonic() - started
    assert 2 <= listed <= took + 2
    assert len(changes) <= took + 4
    names = {tool.name for tool in source.capabilities()}
    later = int(text(call(source, "listed")))
    assert names & {f"seen_{number}" for number in range(listed - 1, later + 1)}


def test_changes_reach_a_modern_client_too(shop):
    source = shop.listed(fake("loop", "modern"))
    assert source.status().protocol == "2026-07-28"
    assert call(source, "echo", text="x").ok
    until(lambda: int(text(call(source, "listed"))) >= 2)


def test_the_era_is_remembered(shop):
    source = shop.listed(fake("modern"))
    assert source._memory.facts.discover
    source._supervisor.config = fake("modern", "die-discover")
    assert call(source, "echo", text="x").ok


def test_a_server_that_dies_of_the_probe_is_asked_the_old_way(shop):
    source = shop.listed(fake("die-discover"))
    assert source.status().protocol == "2025-06-18"
    assert call(source, "echo", text="x").ok


@pytest.mark.plan(55)
def test_each_server_sees_only_its_own_part_of_the_environment(shop, monkeypatch):
    monkeypatch.setenv("CANARY_OF_OURS", "ours")
    configs = [
        ServerConfig(
            f"s{number}",
            ServerCommand(
                sys.executable, ("-S", str(FAKE)), env={f"SECRET_{number}": f"value-{number}"}
            ),
        )
        for number in range(amount(55, "servers"))
    ]
    for config in configs:
        source = shop.listed(config)
        seen = json.loads(text(call(source, "env")))
        assert "CANARY_OF_OURS" not in seen
        secrets = {name for name in seen if name.startswith("SECRET_")}
        assert secrets == {f"SECRET_{config.id[1:]}"}
    written = b"".join(path.read_bytes() for path in shop.folder.iterdir())
    assert b"value-" not in written
    assert {path.stat().st_mode & 0o777 for path in shop.folder.iterdir()} == {0o600}


def test_closing_ends_calls_with_an_outcome(shop):
    source = shop.listed(fake())
    found = []
    begun = threading.Event()
    running = CallContext(Deadline(HANG_S), lambda *_: begun.set())
    asked = source.call(Call("progress", {"pause": 600}), running)
    thread = threading.Thread(target=lambda: found.append(asyncio.run(asked)))
    thread.start()
    assert begun.wait(HANG_S)
    shop.loop.stop_all()
    thread.join(HANG_S)
    assert error(found[0]).code == "connection_lost"
    assert error(call(source, "echo")).code == "closed"


def test_no_more_start_at_once_than_allowed(shop):
    shop.loop.starts = asyncio.Semaphore(2)
    sources = [shop.source(fake("hang-list", id=f"s{n}", start_timeout_s=0.5)) for n in range(6)]
    under_way, most = set(), []

    def counting(startup, reach):
        async def counted(*given):
            under_way.add(startup)
            most.append(len(under_way))
            try:
                return await reach(*given)
            finally:
                under_way.remove(startup)

        return counted

    for source in sources:
        startup = source._supervisor._start
        startup._connect = counting(startup, startup._connect)
    for refresh in [source.refresh() for source in sources]:
        assert refresh.result(HANG_S).error
    assert len(most) >= len(sources)
    assert max(most) == 2
