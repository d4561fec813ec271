"""A trace through the gateway: from the client's span, over ours, to that of the MCP server."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.defaults import RETENTION
from tests.gateway.clients import ERAS, Era, asked, connected, words
from tests.gateway.daemons import serving
from tests.observe.otlp_collector import OtlpCollector, ReceivedSpan, otlp_collector
from tests.waiting import HANG_S, until, until_async
from toolcrib.crib import Crib, inventory_of
from toolcrib.gateway import sdk as gateway_sdk
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.gateway.server import GatewayServer, GatewayServers
from toolcrib.observe import otlp, tracing
from toolcrib.settings import Settings
from toolcrib.sources.mcp import sdk as upstream_sdk
from toolcrib.store import EventFile, EventFilter

OBSERVE = Path(__file__).parent.parent / "observe"
META_SERVER = OBSERVE / "meta_server.py"
META_HTTP_SERVER = OBSERVE / "meta_http_server.py"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CLIENT: Any = {"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "vendor=1"}
SECRET = "the secret word is rhubarb"
EVERYBODY = Principal("ann", Profile(mode="search"))


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "PAUSE_S", 0.02)
    monkeypatch.setattr(otlp, "METRICS_EVERY_S", 0.05)


@pytest.fixture
def collector() -> Iterator[OtlpCollector]:
    with otlp_collector() as collector:
        yield collector


@pytest.fixture
def far(tmp_path: Path) -> Iterator[str]:
    """The address of an MCP server over HTTP."""
    file = tmp_path / "port"
    process = subprocess.Popen([sys.executable, str(META_HTTP_SERVER), str(file)])
    until(file.exists)
    yield f"http://127.0.0.1:{file.read_text()}/mcp"
    process.terminate()
    process.wait(HANG_S)


def settings(**observe: Any) -> Settings:
    quiet: dict[str, Any] = {"apps": {"enabled": False}, "embed": {"embedder": "none"}}
    return Settings.model_validate({"store": ":memory:", "observe": observe, **quiet})


@asynccontextmanager
async def crib_of(given: Settings) -> AsyncGenerator[Crib]:
    crib = Crib(given)
    command = [sys.executable, "-S", str(META_SERVER)]
    crib.add_mcp("traced", command=command, permission={"*": "read"})
    await crib.refresh()
    await asyncio.wrap_future(inventory_of(crib).servers["traced"].stop())
    try:
        yield crib
    finally:
        await asyncio.to_thread(crib.close)


async def visit(client: Client, meta: Any = CLIENT) -> dict[str, Any]:
    """Search, call what was found, and say which `_meta` the server got."""
    await client.call_tool("tool_search", {"queries": [f"trace {SECRET}"]}, meta=meta)
    given = {"name": "mcp_traced_meta", "arguments": {"said": SECRET}}
    return json.loads(words(await client.call_tool("tool_call_read", given, meta=meta)))


def check_trace(collector: OtlpCollector, got: dict[str, Any]) -> None:
    """One trace, each span below the one that asked for it."""
    search = collector.span("tools/call tool_search")
    found = collector.span("retrieval toolcrib")
    call = collector.span("tools/call tool_call_read")
    executed = collector.span("execute_tool mcp_traced_meta")
    sent = collector.span("tools/call meta")
    assert {each.trace for each in (search, found, call, executed, sent)} == {TRACE}
    assert search.parent == call.parent == SPAN
    assert found.parent == search.id
    assert executed.parent == call.id
    assert sent.parent == executed.id
    assert got["traceparent"] == f"00-{TRACE}-{sent.id}-01"
    assert got["tracestate"] == "vendor=1"
    assert [each.kind for each in (search, found, executed, sent)] == [
        "server",
        "internal",
        "internal",
        "client",
    ]
    assert call.start <= executed.start <= sent.start
    assert sent.end <= executed.end + 0.001


@pytest.mark.parametrize("era", ERAS)
def test_a_search_and_a_call_are_one_trace_with_the_clients(collector: OtlpCollector, era: Era):
    async def run() -> None:
        async with crib_of(settings(otlp=collector.url)) as crib:
            server = GatewayServer(crib, EVERYBODY)
            async with connected(server, era) as client:
                got = await visit(client)
            server.close()
        check_trace(collector, got)
        names = [each.name for each in collector.spans() if each.trace == TRACE]
        assert len(names) == len(set(names)), "no span is told twice"
        start = collector.span("toolcrib.server.start").parent
        assert start == collector.span("execute_tool mcp_traced_meta").id

    asked(run)


def test_spans_say_what_the_conventions_ask_for_and_no_content(collector: OtlpCollector):
    async def run() -> None:
        async with crib_of(settings(otlp=collector.url)) as crib:
            server = GatewayServer(crib, EVERYBODY)
            async with connected(server) as client:
                await visit(client)
            server.close()
        searched = collector.span("retrieval toolcrib").attributes
        assert searched["gen_ai.operation.name"] == "retrieval"
        assert searched["gen_ai.data_source.id"] == "toolcrib"
        assert searched["toolcrib.search.form"] == "free"
        assert searched["toolcrib.search.hits"] >= 1
        assert searched["toolcrib.search.abstained"] is False
        kept = {"variants", "candidates", "chance", "confidence"}
        assert {f"toolcrib.search.{each}" for each in kept} <= searched.keys()
        served = collector.span("tools/call tool_call_read").attributes
        assert served["mcp.method.name"] == "tools/call"
        assert served["gen_ai.tool.name"] == "tool_call_read"
        assert served["network.transport"] == "pipe"
        assert {"mcp.protocol.version", "jsonrpc.request.id"} <= served.keys()
        executed = collector.span("execute_tool mcp_traced_meta").attributes
        assert executed["toolcrib.call.verdict"] == "allow"
        assert executed["toolcrib.server"] == "traced"
        sent = collector.span("tools/call meta").attributes
        assert (sent["toolcrib.server"], sent["network.transport"]) == ("traced", "pipe")
        assert "rhubarb" not in str(collector.traces) + str(collector.metrics)

    asked(run)


def test_content_is_sent_where_the_operator_wants_it(collector: OtlpCollector):
    async def run() -> None:
        async with crib_of(settings(otlp=collector.url, otlp_content=True)) as crib:
            server = GatewayServer(crib, EVERYBODY)
            async with connected(server) as client:
                await visit(client)
            server.close()
        searched = collector.span("retrieval toolcrib").attributes
        assert SECRET in searched["gen_ai.retrieval.query.text"]
        assert "mcp_traced_meta" in searched["gen_ai.retrieval.documents"]
        executed = collector.span("execute_tool mcp_traced_meta").attributes
        assert json.loads(executed["gen_ai.tool.call.arguments"]) == {"said": SECRET}
        assert "traceparent" in executed["gen_ai.tool.call.result"]

    asked(run)


@pytest.mark.parametrize("era", ERAS)
def test_what_fails_has_its_code(collector: OtlpCollector, era: Era):
    async def run() -> None:
        async with crib_of(settings(otlp=collector.url)) as crib:
            server = GatewayServer(crib, EVERYBODY)
            async with connected(server, era) as client:
                await client.call_tool("tool_call_read", {"name": "mcp_traced_broken"})
                await client.call_tool("sk-live-0123456789abcdefghij", {})
                with pytest.raises(MCPError):
                    await client.read_resource("nowhere://at/all")
            server.close()
        assert (
            collector.span("execute_tool mcp_traced_broken").attributes["error.type"]
            == "tool_failed"
        )
        assert collector.span("tools/call tool_call_read").attributes["error.type"] == "tool_error"
        assert collector.span("tools/call tool_call_read").failed
        masked = collector.span("tools/call ***")
        assert masked.attributes["error.type"] == "tool_error"
        assert int(collector.span("resources/read").attributes["error.type"]) < 0
        assert "0123456789abcdef" not in str(collector.traces) + str(collector.metrics)

    asked(run)


def test_plain_calls_stay_plain(collector: OtlpCollector, monkeypatch: pytest.MonkeyPatch):
    """With spans of ours, calls go past the SDK as without: nothing is set up for the process."""
    plain: list[str] = []
    serve = GatewayServer.call_plainly

    async def noted(server: GatewayServer, context: Any) -> bytes:
        plain.append(context.params["name"])
        return await serve(server, context)

    monkeypatch.setattr(GatewayServer, "call_plainly", noted)

    async def run() -> None:
        async with crib_of(settings(otlp=collector.url)) as crib:
            server = GatewayServer(crib, EVERYBODY)
            async with connected(server) as client:
                await visit(client)
            server.close()

    asked(run)
    assert plain == ["tool_search", "tool_call_read"]
    assert not gateway_sdk.is_traced()
    assert not upstream_sdk.is_traced()


@pytest.mark.parametrize("era", ERAS)
def test_without_a_collector_the_clients_trace_is_handed_on(era: Era):
    async def run() -> None:
        async with crib_of(settings()) as crib:
            server = GatewayServer(crib, EVERYBODY)
            async with connected(server, era) as client:
                got = await visit(client)
                nothing = await visit(client, None)
                odd = await visit(client, {"traceparent": "odd", "tracestate": "x" * 600})
            server.close()
        assert CLIENT.items() <= got.items()
        assert not {"traceparent", "tracestate"} & (nothing.keys() | odd.keys())

    asked(run)


def test_a_client_that_wants_no_spans_gets_none(collector: OtlpCollector):
    async def run() -> None:
        unwanted = {"traceparent": f"00-{TRACE}-{SPAN}-00"}
        async with crib_of(settings(otlp=collector.url)) as crib:
            server = GatewayServer(crib, EVERYBODY)
            async with connected(server) as client:
                got = await visit(client, unwanted)
                await visit(client, {})
            server.close()
        assert got["traceparent"].endswith("-00")
        assert got["traceparent"].startswith(f"00-{TRACE}-")
        until(collector.spans)
        assert TRACE not in {each.trace for each in collector.spans()}

    asked(run)


def test_events_name_the_trace(collector: OtlpCollector, tmp_path: Path):
    async def run() -> None:
        given = settings(otlp=collector.url).model_copy(
            update={"store": str(tmp_path / "catalog.db")}
        )
        async with crib_of(given) as crib:
            server = GatewayServer(crib, EVERYBODY)
            async with connected(server) as client:
                await visit(client)
            server.close()
        file = EventFile(tmp_path / "events.db", RETENTION)
        logged = file.newest(100, EventFilter(("search", "call"))).values()
        file.close()
        assert {each.trace for each in logged} == {TRACE}

    asked(run)


@asynccontextmanager
async def by_http(port: int, key: str, era: Era) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(
            streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http),
            mode=era,
            cache=None,
        ) as client,
    ):
        yield client


@pytest.mark.parametrize("era", ERAS)
def test_the_same_over_http_and_the_session_is_a_mark(
    collector: OtlpCollector, tmp_path: Path, era: Era
):
    async def run() -> None:
        given = settings(otlp=collector.url)
        async with crib_of(given) as crib:
            open_crib: Callable[[], Crib] = lambda: crib  # noqa: E731
            daemon = serving(tmp_path, given, crib=open_crib, servers=GatewayServers)
            async with daemon as (_, at), by_http(at.port, at.token, era) as client:
                got = await visit(client)
                await until_async(lambda: len(spans_of(collector, TRACE)) >= 5)
        check_trace(collector, got)
        served = collector.span("tools/call tool_call_read").attributes
        assert served["network.transport"] == "tcp"
        if era == "legacy":
            assert len(served["mcp.session.id"]) == 12

    asked(run)


@pytest.mark.parametrize("era", ERAS)
def test_a_server_elsewhere_goes_on_with_our_span(collector: OtlpCollector, far: str, era: Era):
    async def run() -> None:
        async with crib_of(settings(otlp=collector.url)) as crib:
            crib.add_mcp("far", url=far, permission={"*": "read"})
            await crib.refresh("far")
            server = GatewayServer(crib, EVERYBODY)
            async with connected(server, era) as client:
                given = {"name": "mcp_far_trace"}
                got = words(await client.call_tool("tool_call_read", given, meta=CLIENT))
            server.close()
        sent = collector.span("tools/call trace")
        assert got == f"00-{TRACE}-{sent.id}-01"
        assert sent.attributes["network.transport"] == "tcp"

    asked(run)


def spans_of(collector: OtlpCollector, trace: str) -> list[ReceivedSpan]:
    return [each for each in collector.spans() if each.trace == trace]
