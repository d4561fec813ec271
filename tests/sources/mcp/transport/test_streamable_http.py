import asyncio
import resource
from dataclasses import replace

import httpx2
import pytest

from tests.sources.mcp.conftest import TOKEN, acall, call
from tests.sources.mcp.faking import error, text, within_s
from tests.waiting import HANG_S
from toolcrib.model import Call, CallContext, Deadline
from toolcrib.sources.mcp import ServerAddress, ServerConfig
from toolcrib.sources.mcp.client.connection import Connection
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest
from toolcrib.sources.mcp.listing import ProtocolMode
from toolcrib.sources.mcp.transport.streamable_http import StreamableHttpTransport


def far(base, path="/mcp", **headers):
    given = headers or {"Authorization": "Bearer ${HTTP_TEST_TOKEN}"}
    return ServerConfig("far", ServerAddress(base + path, given), start_timeout_s=HANG_S)


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("HTTP_TEST_TOKEN", TOKEN)


def test_a_server_elsewhere_is_listed_and_called(shop, base):
    source = shop.listed(far(base))
    assert [tool.name for tool in source.capabilities()] == ["echo", "large", "meet", "who"]
    assert source.status().protocol == "2026-07-28"
    assert text(call(source, "echo", text="hi")) == "hi"
    assert source.status().transport == "http"
    written = b"".join(path.read_bytes() for path in shop.folder.iterdir())
    assert TOKEN.encode() not in written


def test_the_stream_says_whom_a_question_is_for(base):
    """Of two calls under way on one connection of the handshake, each is asked its own."""

    async def ask_both():
        connection = Connection(far(base), lambda: None)
        await connection.start(ProtocolMode("legacy"), within_s(HANG_S))
        here = asyncio.Barrier(2)

        async def one(name):
            async def reply(asked):
                await here.wait()
                words = [each.params["message"] for each in asked.values()]
                content = {"name": f"{name} to {words}"}
                return {key: {"action": "accept", "content": content} for key in asked}

            running = CallContext(Deadline(HANG_S), ask=reply, caller=name)
            errand = UpstreamRequest.of(Call("who", {"words": name}))
            return text(await connection.request(errand, running))

        try:
            async with asyncio.timeout(HANG_S):
                return await asyncio.gather(one("ann"), one("bob"))
        finally:
            await connection.close()

    assert asyncio.run(ask_both()) == [
        f"{name}: {name} to [\"MCP server 'far' asks: {name}\"]" for name in ("ann", "bob")
    ]


def test_so_many_calls_are_under_way_at_once_as_its_entry_says(shop, base):
    source = shop.listed(replace(far(base), calls_at_once=ServerAddress.CALLS_AT_ONCE))

    async def meet():
        calls = (acall(source, "meet", count=110) for _ in range(110))
        return await asyncio.gather(*calls)

    assert [text(each) for each in asyncio.run(meet())] == ["met"] * 110


def test_who_is_not_let_in_needs_a_login(shop, base):
    shop.listed(far(base))
    source = shop.source(far(base))
    source._supervisor.config = far(base, Authorization="Bearer wrong")
    failed = error(call(source, "echo", text="hi"))
    assert (failed.code, failed.retryable, failed.effect) == ("needs_login", False, "not_sent")
    assert source.state("echo") == "needs_login"
    shop.reopen()
    assert shop.source(far(base)).state("echo") == "needs_login"


@pytest.mark.parametrize("path", ["/bomb", "/flood"])
def test_a_reply_without_measure_is_refused(shop, base, path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = shop.source(far(base, path)).refresh().result(HANG_S)
    assert "cannot be reached" in done.error
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_a_result_that_is_too_large_is_an_outcome(shop, base):
    source = shop.listed(far(base))
    failed = error(call(source, "large", size=20_000_000))
    assert (failed.code, failed.effect) == ("result_too_large", "unknown")
    assert text(call(source, "echo", text="still there")) == "still there"


def test_an_address_that_is_none_is_named(shop):
    config = ServerConfig("far", ServerAddress("http://127.0.0.1:1/mcp"), start_timeout_s=5)
    assert "cannot be reached" in shop.source(config).refresh().result(HANG_S).error


@pytest.mark.parametrize(("status", "session", "expired"), [(404, True, True), (404, False, False)])
def test_a_session_that_the_server_forgot_is_over(status, session, expired):
    transport = StreamableHttpTransport("http://x", {})
    headers = {"mcp-session-id": "1"} if session else {}
    request = httpx2.Request("POST", "http://x", headers=headers)
    asyncio.run(transport._notice(httpx2.Response(status, request=request)))
    assert transport.expired == expired
    assert not transport.needs_login
