"""Old servers, over HTTP with SSE: the SDK's own server of that kind, and ones that misbehave."""

import asyncio

import pytest

from tests.sources.mcp.conftest import TOKEN, call
from tests.sources.mcp.faking import error, text, within_s
from tests.waiting import HANG_S, until
from toolcrib.model import Call, CallContext, Deadline
from toolcrib.sources.mcp import ServerAddress, ServerConfig
from toolcrib.sources.mcp.client.connection import Connection
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest
from toolcrib.sources.mcp.listing import ProtocolMode
from toolcrib.sources.mcp.transport.sse import _Event
from toolcrib.system import LONGEST_LINE, PipeLine


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("HTTP_TEST_TOKEN", TOKEN)


def old(base, path="/sse", **headers):
    given = headers or {"Authorization": "Bearer ${HTTP_TEST_TOKEN}"}
    return ServerConfig(
        "old", ServerAddress(base + path, given, kind="sse"), start_timeout_s=HANG_S
    )


def test_an_old_server_is_listed_and_called_in_its_own_era(shop, base):
    source = shop.listed(old(base))
    assert [tool.name for tool in source.capabilities()] == ["echo", "large", "meet", "who"]
    assert source.status().protocol < "2026"
    assert source.status().transport == "sse"
    assert text(call(source, "echo", text="hi")) == "hi"
    written = b"".join(path.read_bytes() for path in shop.folder.iterdir())
    assert TOKEN.encode() not in written


def test_calls_at_once_get_each_their_own_answer(shop, base):
    source = shop.listed(old(base))

    async def many():
        running = CallContext(Deadline(HANG_S))
        calls = [source.call(Call("echo", {"text": str(n)}), running) for n in range(20)]
        return [text(each) for each in await asyncio.gather(*calls)]

    assert asyncio.run(many()) == [str(n) for n in range(20)]


def test_an_answer_that_is_too_large_costs_itself_alone(shop, base):
    source = shop.listed(old(base))
    assert error(call(source, "large", size=LONGEST_LINE + 1)).code == "result_too_large"
    assert len(text(call(source, "large", size=1_000_000))) == 1_000_000
    assert source.state("echo") == "ready"


def test_a_question_reaches_the_only_call_under_way(base):
    async def ask():
        connection = Connection(old(base), lambda: None)
        await connection.start(ProtocolMode("legacy"), within_s(HANG_S))

        async def reply(asked):
            return {key: {"action": "accept", "content": {"name": "ann"}} for key in asked}

        running = CallContext(Deadline(HANG_S), ask=reply, caller="ann")
        try:
            errand = UpstreamRequest.of(Call("who", {"words": "Who?"}))
            return text(await connection.request(errand, running))
        finally:
            await connection.close()

    assert asyncio.run(ask()).endswith(": ann")


def test_who_is_not_let_in_is_told_so(shop, base):
    source = shop.source(old(base, Authorization="Bearer wrong"))
    refused = source.refresh().result()
    assert "refuses the `Authorization` header" in refused.error
    source = shop.source(old(base, **{"X-Other": "1"}))
    assert "wants a login" in source.refresh().result().error
    assert source.status().state == "needs_login"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/elsewhere/sse", "another address than its own"),
        ("/moved-away", "307"),
        ("/mcp", "40"),
        ("/nothing", "404"),
    ],
)
def test_what_is_no_sse_server_or_leads_elsewhere_is_refused(shop, base, path, told):
    assert told in shop.source(old(base, path)).refresh().result().error


def test_a_redirect_within_the_origin_is_followed(shop, base):
    source = shop.listed(old(base, "/moved"))
    assert text(call(source, "echo", text="hi")) == "hi"


def test_a_server_that_takes_no_message_is_told_at_once(shop, base):
    """Not when the time of the start is up, which here is never."""
    failed = shop.source(old(base, "/forgets/sse")).refresh().result()
    assert "HTTP 404" in failed.error or "session" in failed.error


def test_a_stream_that_ends_is_opened_again_by_the_next_call(shop, base):
    source = shop.listed(old(base))
    call(source, "echo", text="hi")
    connection = source._supervisor._connection
    connection._tap.ended.set()
    until(lambda: source.state("echo") == "asleep")
    assert text(call(source, "echo", text="again")) == "again"


def event(*lines: PipeLine) -> _Event:
    made = _Event()
    for line in lines:
        made.add(line)
    return made


def test_the_lines_of_an_event_are_put_together_and_bounded():
    two = event(
        PipeLine(b"event: x"),
        PipeLine(b"data: a"),
        PipeLine(b"data:b"),
        PipeLine(b": ping"),
        PipeLine(b"id: 1"),
    )
    assert (two.kind, two.data) == ("x", PipeLine(b"a\nb"))
    half = LONGEST_LINE // 2 + 1
    large = event(
        PipeLine(b"data: " + b"x" * half), PipeLine(b"data: " + b"x" * half), PipeLine(b"data: y")
    )
    assert not large.data.whole
    assert len(large.data.content) == 512
    assert not event(PipeLine(b"data: {", whole=False)).data.whole
