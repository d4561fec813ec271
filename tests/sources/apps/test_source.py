"""An app that is called: running, gone, launched, idle."""

import asyncio
import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.defaults import APP_RULES
from tests.sources.apps.joining import app_at, raw, serving
from tests.sources.mcp.faking import below, processes
from tests.waiting import HANG_S, until
from tests.workshop import soon
from toolcrib.model import Call, CallContext, Deadline
from toolcrib.sources.apps import AppRegistry, AppTimeouts, KnownApp, SDKToolsCache
from toolcrib.sources.apps.source import AppSource

ADD = {
    "name": "add_event",
    "description": "Put an event into the calendar.",
    "inputSchema": {
        "additionalProperties": False,
        "type": "object",
        "properties": {"title": {"type": "string"}},
        "required": ["title"],
    },
    "permission_kind": "write",
}
DIE = {
    "name": "die",
    "description": "End the program in the middle of a call.",
    "inputSchema": {"additionalProperties": False, "type": "object", "properties": {}},
    "permission_kind": "write",
}


def known(
    folder, launch, *tools, timeouts: AppTimeouts | None = None
) -> tuple[AppRegistry, AppSource]:
    """Apps that remember one which is not running."""
    SDKToolsCache(folder / "known").write(
        KnownApp("calendar", launch=tuple(launch), tools=tools or (ADD, DIE))
    )
    timeouts = timeouts or replace(APP_RULES.timeouts, start_s=HANG_S)
    apps = AppRegistry(folder, replace(APP_RULES, timeouts=timeouts))
    return apps, apps.sources[0]


def call(source, name="add_event", running=None, **arguments):
    return asyncio.run(source.call(Call(name, arguments), running or soon()))


def children() -> set[str]:
    """The command lines of the processes below us."""
    every = processes()
    lines = {every[pid][1] for pid in below(os.getpid(), every)}
    return {line for line in lines if "launcher.py" in line}


def test_a_call_launches_the_app_and_close_ends_it(folder, command):
    apps, source = known(folder, command)
    assert source.state("add_event") == "asleep"
    assert call(source, title="x").content == "added x"
    assert source.state("add_event") == "ready"
    assert call(source, title="y").content == "added y"
    assert any("calendar_app.py" in line for line in children())
    apps.close()
    assert not children()
    assert not list(folder.glob("*.json"))


def test_many_calls_launch_it_once(folder, command):
    apps, source = known(folder, command)

    async def several():
        calls = [source.call(Call("add_event", {"title": str(n)}), soon()) for n in range(20)]
        return await asyncio.gather(*calls)

    assert [done.content for done in asyncio.run(several())] == [f"added {n}" for n in range(20)]
    assert len(children()) == 1
    apps.close()


def test_an_app_that_dies_in_a_call_leaves_the_outcome_unknown_and_starts_again(folder, command):
    apps, source = known(folder, command)
    error = call(source, "die").error
    assert error
    assert (error.code, error.effect) == ("connection_lost", "unknown")
    until(lambda: source.state("die") == "asleep")
    assert call(source, title="x").content == "added x"
    apps.close()


def test_an_idle_app_is_ended_and_woken_again(folder, command):
    apps, source = known(folder, command, timeouts=AppTimeouts(HANG_S, 0.2))
    for _ in range(2):
        assert call(source, title="x").ok
        until(lambda: not children())
        assert source.state("add_event") == "asleep"
    apps.close()


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        ((), "has no launch command"),
        (("/no/such/command",), "no such command"),
        ((sys.executable, "-c", "import sys; sys.exit('out of paper')"), "out of paper"),
        (("/bin/sh", "-c", "echo hm; exec sleep 600"), "hm"),
    ],
)
def test_an_app_that_does_not_start_says_why_and_leaves_nothing(folder, launch, said):
    timeouts = replace(APP_RULES.timeouts, start_s=1.0 if said == "hm" else HANG_S)
    apps, source = known(folder, launch, timeouts=timeouts)
    error = call(source, title="x").error
    assert error
    assert (error.phase, error.effect, error.server) == ("start", "not_sent", "calendar")
    assert said in error.message
    assert not children()
    apps.close()


def test_the_deadline_holds_while_it_starts(folder):
    apps, source = known(folder, ("/bin/sleep", "600"))
    error = call(source, running=CallContext(Deadline(0.2)), title="x").error
    assert error
    assert (error.phase, error.effect) == ("start", "not_sent")
    apps.close()
    assert not children()


def test_an_app_that_is_here_and_has_yet_to_register_is_waited_for(folder, command):
    apps, source = known(folder, command)
    apps.listen()
    with raw(folder) as app, ThreadPoolExecutor() as threads:
        app.hello(name="calendar")
        calling = threads.submit(call, source, title="x")
        until(lambda: source._launcher.awake._waiters)
        heard = [app.ask("register", tools=[ADD]), app.hear()]  # in either order
        (asked,) = [message for message in heard if message.get("method") == "call"]
        assert asked["params"]["name"] == "add_event"
        app.socket.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": 1}}))
        assert calling.result().content == 1
        assert not children()
    apps.close()


@pytest.mark.parametrize(
    ("error", "code", "effect"),
    [
        ({"code": -32000, "message": "no"}, "tool_failed", "failed"),
        ({"code": -32000, "message": "", "data": {"effect": "unknown"}}, "tool_failed", "unknown"),
        ({"code": 7, "message": "x" * 1_000_000}, "tool_failed", "failed"),
        ({"code": -32003, "message": "busy"}, "overloaded", "not_sent"),
        ({"code": -32800, "message": ""}, "tool_cancelled", "unknown"),
        (None, "bad_result", "failed"),
    ],
)
def test_every_answer_of_an_app_is_an_outcome(folder, command, error, code, effect):
    apps, source = known(folder, command)
    apps.listen()
    with raw(folder) as app, ThreadPoolExecutor() as threads:
        app.hello(name="calendar")
        app.ask("register", tools=[ADD])
        calling = threads.submit(call, source, title="x")
        answer = {"error": error} if error else {"result": 1}
        app.socket.send(json.dumps({"jsonrpc": "2.0", "id": app.hear()["id"], **answer}))
        told = calling.result().error
    assert told
    assert (told.code, told.effect) == (code, effect)
    assert len(told.message) < 10_000
    apps.close()


def test_a_tool_that_is_another_once_the_app_runs_is_not_called(folder, command):
    apps, source = known(folder, command, {**ADD, "description": "Harmless"}, DIE)
    error = call(source, title="x").error
    assert error
    assert (error.code, error.effect) == ("definition_changed", "not_sent")
    apps.close()


def test_the_app_sees_only_what_it_may_of_our_environment(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "x")
    out = tmp_path / "environment"
    code = f"import os, json; open({str(out)!r}, 'w').write(json.dumps(dict(os.environ)))"
    apps, source = known(folder, (sys.executable, "-c", code))
    assert not call(source, title="x").ok
    assert "TOOLCRIB_APPS_FILE" in out.read_text()
    assert "SECRET_KEY" not in out.read_text()
    apps.close()


def test_after_close_nothing_is_launched(folder, command):
    apps, source = known(folder, command)
    call(source, title="x")
    apps.close()
    assert call(source, title="x").error
    assert not children()


def test_progress_is_relayed_and_a_late_answer_is_cancelled(apps, folder):
    from toolcrib.app import progress  # noqa: PLC0415 - as in an app

    app, ended = app_at(folder), []

    @app.tool
    async def wait() -> None:
        """Wait."""
        try:
            progress(1, 2, "half")
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    apps.listen()
    with serving(app):
        until(lambda: apps.sources and apps.sources[0].capabilities())
        heard = []
        running = CallContext(Deadline(0.3), lambda *told: heard.append(told))
        error = call(apps.sources[0], "wait", running).error
        assert error
        assert (error.code, error.effect) == ("deadline", "unknown")
        assert heard == [(1.0, 2.0, "half")]
        until(lambda: ended)


def test_cancelling_a_call_ends_it_in_the_app(apps, folder):
    app, began, ended = app_at(folder), [], []

    @app.tool
    async def wait() -> None:
        """Wait."""
        try:
            began.append(True)
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def cancelled() -> bool:
        task = asyncio.ensure_future(apps.sources[0].call(Call("wait"), soon()))
        await asyncio.to_thread(until, lambda: began)
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    apps.listen()
    with serving(app):
        until(lambda: apps.sources and apps.sources[0].capabilities())
        assert asyncio.run(cancelled())
        until(lambda: ended)


def test_a_killed_launcher_takes_the_app_along(folder, command):
    apps, source = known(folder, command)
    call(source, title="x")
    process = source._launcher._process
    assert process
    os.kill(process._child.popen.pid, signal.SIGKILL)
    until(lambda: process.status is not None)
    apps.close()
    until(lambda: not children())


def test_a_tool_is_pinned_whole_and_cleaned_of_what_is_hidden(folder, command):
    hidden = ADD | {"name": "hidden", "description": "Put\u200b it"}
    apps, source = known(folder, command, ADD, hidden)
    plain, flagged = source.capabilities()
    assert len(plain.pin) == 64
    assert plain.pin != flagged.pin
    assert (flagged.description, flagged.flags) == ("Put it", ("zero-width",))
    apps.close()
    other, again = known(folder, [*command, "--other"], ADD)
    assert again.capabilities()[0].pin != plain.pin
    other.close()
