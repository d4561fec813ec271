"""`/metrics`: there only if it is wanted, opened by its own key alone, and true."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.clients import asked
from tests.gateway.daemons import INITIALIZE, Answer, Reached, bare, request, serving
from tests.observe.prometheus_page import PageSamples, read_page
from tests.waiting import until_async
from toolcrib.crib import Crib
from toolcrib.gateway import KeyTerms, keys_in
from toolcrib.gateway.credentials import AccessDenied, Authenticator
from toolcrib.gateway.daemon import Daemon
from toolcrib.gateway.server import GatewayServers
from toolcrib.observe import METRICS, event_log
from toolcrib.settings import Settings

META_SERVER = Path(__file__).parents[2] / "observe" / "meta_server.py"
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "PAUSE_S", 0.01)


def metrics_key(settings: Settings) -> str:
    return keys_in(settings.state_folder).add("prometheus", KeyTerms(scopes=("metrics",)))


async def scraped(port: int, key: str) -> Answer:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return await request(port, "GET", "/metrics", headers)


def samples(answer: Answer) -> PageSamples:
    assert answer.status == 200, answer
    return read_page(answer.body)


def test_there_is_none_unless_the_settings_want_it(tmp_path: Path):
    async def run() -> None:
        async with serving(tmp_path) as (daemon, at):
            key = metrics_key(daemon.serving.crib.settings)
            answer = await scraped(at.port, key)
            assert (answer.status, answer.code) == (404, "not_found")

    asked(run)


def test_there_is_none_without_the_extra_and_that_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)

    async def run() -> None:
        async with serving(tmp_path, bare(observe={"metrics": True})) as (daemon, at):
            (problem,) = daemon.serving.crib.problems
            assert "pip install 'toolcrib[metrics]'" in problem
            answer = await scraped(at.port, metrics_key(daemon.serving.crib.settings))
            assert answer.status == 404

    asked(run)


def test_its_key_opens_it_and_nothing_else_and_no_other_key_does(tmp_path: Path):
    async def run() -> None:
        async with serving(tmp_path, bare(observe={"metrics": True})) as (daemon, at):
            settings = daemon.serving.crib.settings
            key = metrics_key(settings)
            answer = await scraped(at.port, key)
            assert answer.status == 200
            assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
            assert answer.headers["cache-control"] == "no-store"
            assert (await scraped(at.port, "")).code == "unauthorized"
            assert (await scraped(at.port, "tc_guessed")).code == "unauthorized"
            assert (await scraped(at.port, at.token)).code == "forbidden"
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
            opened = {"Authorization": f"Bearer {key}", **JSON}
            refused = await request(at.port, "POST", "/mcp", opened, body)
            assert (refused.status, refused.code) == (403, "forbidden")
            authenticator = Authenticator(settings.gateway, keys_in(settings.state_folder))
            for profile in ("default", "", "/metrics", "metrics"):
                with pytest.raises(AccessDenied):
                    authenticator.keyed(key, profile)
            keys_in(settings.state_folder).remove("prometheus")
            assert (await scraped(at.port, key)).code == "unauthorized"
            other_host = {"Host": "evil.example", "Authorization": f"Bearer {key}"}
            assert (await request(at.port, "GET", "/metrics", other_host)).status == 421
            assert (await request(at.port, "POST", "/metrics", opened, body)).status == 405

    asked(run)


async def post(at: Reached, method: str, params: Any, session: str = "") -> Answer:
    headers = {"Authorization": f"Bearer {at.token}", **JSON}
    headers |= {"Mcp-Session-Id": session} if session else {}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    return await request(at.port, "POST", "/mcp", headers, body)


async def visit(at: Reached) -> None:
    """Come as a client, search, call, list, and be refused once."""
    session = (await post(at, "initialize", INITIALIZE)).headers["mcp-session-id"]
    search = {"name": "tool_search", "arguments": {"queries": ["which trace is this"]}}
    call = {"name": "tool_call_read", "arguments": {"name": "mcp_traced_meta"}}
    for method, params in (("tools/call", search), ("tools/call", call), ("tools/list", {})):
        answer = await post(at, method, params, session)
        assert answer.status == 200, answer
    assert (await request(at.port, "GET", "/nowhere")).status == 404


def test_what_happened_and_how_things_stand_is_there(tmp_path: Path):
    settings = bare(observe={"metrics": True}, gateway={"mode": "search"})

    def crib() -> Crib:
        made = Crib(settings)
        command = [sys.executable, "-S", str(META_SERVER)]
        made.add_mcp("traced", command=command, permission={"*": "read"})
        return made

    async def run() -> None:
        daemon: Daemon
        async with serving(tmp_path, settings, crib=crib, servers=GatewayServers) as (daemon, at):
            await daemon.serving.crib.refresh()
            await visit(at)
            key = metrics_key(settings)

            async def told() -> bool:
                found = samples(await scraped(at.port, key))
                tokens = {what for what, _ in found.get("toolcrib_tokens_total", {})}
                return {"eager", "sent"} <= tokens and "toolcrib_calls_total" in found

            await until_async(told, "what happened is counted")
            found = samples(await scraped(at.port, key))
        check_page(found)

    asked(run)


def check_page(found: PageSamples) -> None:
    assert {metric.name.removesuffix("_total") for metric in METRICS} <= found.keys()
    assert sum(found["toolcrib_searches_total"].values()) == 1
    assert found["toolcrib_search_duration_seconds_count"] == {("free",): 1}
    assert found["toolcrib_calls_total"] == {("traced", "mcp_traced_meta", "ok"): 1}
    assert found["toolcrib_server_starts_total"] == {("traced", "started"): 1}
    assert found["toolcrib_server_up"] == {("traced",): 1}
    assert found["toolcrib_server_calls"] == {("traced", "running"): 0, ("traced", "waiting"): 0}
    assert found["toolcrib_server_memory_bytes"]["traced",] > 1_000_000
    assert found["toolcrib_definitions_waiting"] == {("traced",): 0}
    assert found["toolcrib_approvals_waiting"] == {(): 0}
    assert found["toolcrib_tools"] == {("ready",): 2}
    assert found["toolcrib_clients"] == {("http",): 1}
    assert found["toolcrib_refused_total"] == {("not_found",): 1}
    assert found["toolcrib_events_dropped_total"] == {(): 0}
    assert found["toolcrib_spans_dropped_total"] == {(): 0}
    assert {what for what, _ in found["toolcrib_tokens_total"]} >= {"eager", "sent"}
