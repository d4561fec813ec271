import asyncio
import os
import resource
import sys

import pytest

from tests.plan import amount
from tests.sources.mcp.faking import below, fake, left_of, nothing_left, within_s
from tests.waiting import HANG_S
from toolcrib.model import Call, CallContext, Deadline
from toolcrib.sources.mcp import ServerCommand, ServerConfig
from toolcrib.sources.mcp.client import list_requests
from toolcrib.sources.mcp.client.connection import Connection
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest
from toolcrib.sources.mcp.listing import ProtocolMode, ServerFacts, protocol_modes
from toolcrib.sources.mcp.outcome import StartFailed


def nothing(*_args):
    pass


class Talk:
    """A connection that is up, and calls on it."""

    def __init__(self, connection, greeting):
        self.connection = connection
        self.greeting = greeting

    async def __call__(self, name, within=HANG_S, told=nothing, **arguments):
        running = CallContext(Deadline(within), told)
        errand = UpstreamRequest.of(Call(name, arguments))
        return await self.connection.request(errand, running)


def talking(*server_modes, mode=None, config=None, within=HANG_S, changed=nothing):
    """Run a test with a connection, and see that nothing of it is left."""

    def run(test):
        async def live():
            connection = Connection(config or fake(*server_modes), changed)
            try:
                greeting = await connection.start(mode or ProtocolMode("auto"), within_s(within))
                return await test(Talk(connection, greeting))
            finally:
                await connection.close()

        with nothing_left():
            return asyncio.run(live())

    return run


@pytest.mark.parametrize(("era", "version"), [("", "2025-06-18"), ("modern", "2026-07-28")])
def test_both_eras_list_and_call(era, version):
    async def test(call):
        said = await call("echo", text="hi")
        return call.greeting, said

    greeting, said = talking(era)(test)
    assert greeting.facts.version == version
    assert (greeting.facts.discover is not None) == (era == "modern")
    assert greeting.facts.instructions.startswith("Fake things.")
    assert greeting.listing.tools[0] == {
        "name": "echo",
        "inputSchema": {"type": "object"},
        "x-vendor": 1,
        "description": "The echo tool",
    }
    assert said.ok
    assert said.content == [{"type": "text", "text": "hi"}]
    assert isinstance(said.structured, dict)


def test_what_is_remembered_saves_the_probe():
    facts = ServerFacts("2025-06-18")
    assert protocol_modes(facts)[0] == ProtocolMode("legacy")
    assert protocol_modes(None) == (ProtocolMode("auto"), ProtocolMode("legacy"))
    discover = {"supportedVersions": ["2026-07-28"], "capabilities": {}, "resultType": "complete"}
    remembered = ServerFacts("2026-07-28", discover | {"ttlMs": 0, "cacheScope": "private"})

    async def test(call):
        return call.greeting, await call("echo", text="hi")

    greeting, said = talking("modern", "die-discover", mode=protocol_modes(remembered)[0])(test)
    assert greeting.facts.version == "2026-07-28"
    assert said.ok


def test_one_malformed_tool_does_not_cost_the_others():
    async def test(call):
        return call.greeting.listing

    listing = talking("junk", "malformed")(test)
    assert [tool.get("name") for tool in listing.tools][-3:] == ["bare", None, "odd"]
    assert listing.complete


@pytest.mark.plan(22)
@pytest.mark.parametrize(("mode", "most"), [("endless-cursor", 100), ("same-cursor", 2)])
def test_a_list_without_end_is_cut(mode, most, monkeypatch):
    monkeypatch.setattr(list_requests, "MOST_PAGES", 100)

    async def test(call):
        return call.greeting.listing, await call("echo", text="still there")

    listing, said = talking(mode)(test)
    assert (len(listing.tools), listing.complete) == (most, False)
    assert said.ok


def test_a_failure_says_what_became_of_the_call():
    async def test(call):
        names = ("error", "no_such", "broken", "crash")
        return [(await call(name)).error for name in names]

    found = talking()(test)
    assert [(error.code, error.phase, error.effect, error.retryable) for error in found] == [
        ("tool_failed", "call", "failed", False),
        ("server_error", "call", "failed", False),
        ("bad_reply", "result", "unknown", False),
        ("connection_lost", "call", "unknown", True),
    ]
    assert found[0].message == "it failed"
    assert "exit status 3" in found[3].message
    assert {error.server for error in found} == {"fake"}


@pytest.mark.plan(23)
def test_giant_output_is_refused_and_takes_no_memory():
    async def test(call):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        large = await call("huge", size=64_000_000)
        fits = await call("huge", size=1_000_000)
        endless = await call("endless", within=1.0)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        return large, fits, endless, grown

    large, fits, endless, grown = talking()(test)
    assert large.error.code == "result_too_large"
    assert fits.ok
    assert endless.error.code in ("deadline", "connection_lost")
    assert grown < 64 * 1024


@pytest.mark.plan(24)
def test_garbage_reaches_nobody():
    """Wrong, late and doubled ids, lines that are no messages, a flood of stderr and progress."""
    notices = amount(24, "notices")

    async def test(call):
        heard = []
        texts = [(await call("garbage")).content[0]["text"] for _ in range(20)]
        echoes = await asyncio.gather(*(call("echo", text=str(n)) for n in range(100)))
        flood = await call(
            "progress", steps=notices, pause=0, told=lambda *a: heard.append(a), within=600
        )
        return texts, [one.content[0]["text"] for one in echoes], flood, heard

    texts, echoes, flood, heard = talking("stderr", "junk")(test)
    assert set(texts) == {"right"}
    assert echoes == [str(number) for number in range(100)]
    assert flood.ok
    assert 1 <= len(heard) < notices / 50


def test_progress_is_relayed():
    async def test(call):
        heard = []
        said = await call("progress", told=lambda *a: heard.append(a))
        return said, heard

    said, heard = talking()(test)
    assert said.ok
    assert heard == [(0.0, 9.0, "on"), (1.0, 9.0, "on"), (2.0, 9.0, "on")]


@pytest.mark.plan(19)
@pytest.mark.parametrize(
    "hang", ["hang-spawn", "hang-list", "hang-page", "hang-discover hang-initialize"]
)
def test_a_hang_before_it_is_up_ends_at_the_deadline(hang):
    async def start():
        connection = Connection(fake(*hang.split()), nothing)
        with pytest.raises(StartFailed) as raised:
            await connection.start(ProtocolMode("auto"), within_s(0.7))
        await connection.close()
        return raised.value.code

    with nothing_left():
        assert asyncio.run(start()) == "start_timeout"


@pytest.mark.plan(19)
@pytest.mark.parametrize(
    ("mode", "name", "arguments"),
    [
        ("", "sleep", {}),
        ("stubborn", "sleep", {}),
        ("silent-stdin", "echo", {"text": "x" * 3_000_000}),
        ("", "endless", {}),
    ],
)
def test_a_hang_in_a_call_ends_at_the_deadline(mode, name, arguments):
    async def test(call):
        return await call(name, within=0.7, **arguments)

    said = talking(mode)(test)
    assert said.error.code in ("deadline", "connection_lost")
    assert (said.error.phase, said.error.effect) == ("call", "unknown")


def test_a_server_that_closes_its_output_is_lost():
    async def test(call):
        raise AssertionError

    with pytest.raises(StartFailed) as raised:
        talking("half-close")(test)
    assert raised.value.code == "start_failed"


def test_a_cancelled_call_tells_the_server():
    async def test(call):
        begun = asyncio.Event()
        task = asyncio.create_task(call("progress", pause=600, told=lambda *_: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await call("echo", text="still there")

    assert talking()(test).ok


@pytest.mark.parametrize(
    ("config", "code", "words"),
    [
        (ServerConfig("x", ServerCommand("/no/such")), "not_started", "no such command"),
        (ServerConfig("x", ServerCommand("no-such-command")), "not_started", "no-such-command"),
        (fake("exit-at-once"), "start_failed", "exit status 3. It said: no licence found"),
    ],
)
def test_a_server_that_cannot_start_says_why(config, code, words):
    async def test(call):
        raise AssertionError

    with pytest.raises(StartFailed, match=words) as raised:
        talking(config=config)(test)
    assert raised.value.code == code


def test_secrets_do_not_show_in_last_words():
    env = {"TOKEN": "hunter2222"}
    code = "import os, sys; sys.exit('bad token ' + os.environ['TOKEN'])"
    command = ServerCommand(sys.executable, ("-S", "-c", code), env)

    async def test(call):
        raise AssertionError

    with pytest.raises(StartFailed, match=r"bad token \*\*\*"):
        talking(config=ServerConfig("x", command))(test)


def test_grandchildren_go_with_their_server():
    before = below(os.getpid())

    async def test(call):
        return below(os.getpid()) - before

    pids = talking("grandchild", "stubborn")(test)
    assert len(pids) == 5
    assert left_of(pids) == {}
