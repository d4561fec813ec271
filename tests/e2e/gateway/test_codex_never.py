"""`codex exec`, which has nobody to ask: through the gateway it runs what it runs without it."""

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from benchmarks.hosts import OVER, results_of_codex
from scripts.install_test_servers import install, servers
from tests.e2e.gateway.conftest import PROFILE, SEARCH
from tests.e2e.gateway.running import Gateway, gateway_over
from tests.e2e.gateway.test_hosts import run_codex
from tests.e2e.gateway.visits import Door
from tests.sources.mcp.faking import FAKE, nothing_left
from toolcrib.testing import CallTool, Say

pytestmark = pytest.mark.clients

TOKYO = {"timezone": "Asia/Tokyo"}
ECHO = {"text": "hello"}
REFUSED = "requires approval"
WAITING = "required = true\n"
"""Codex begins once the server has listed its tools."""


def said(door: Door, folder: Path, *calls: CallTool) -> list[str]:
    """What each of these calls came to."""
    return results_of_codex(run_codex(door, [*calls, Say(OVER)], folder, WAITING))


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    """A server that says what only reads, and one that says nothing."""
    time = servers(install(), tmp_path_factory.mktemp("nothing"))["time"]
    return {"time": time, "fake": {"command": sys.executable, "args": ["-S", str(FAKE)]}}


@pytest.fixture(scope="module")
def gateway(
    entries: dict[str, dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> Generator[Gateway]:
    folder = tmp_path_factory.mktemp("gateway")
    with nothing_left(), gateway_over(folder, entries, PROFILE) as gateway, gateway.daemon():
        yield gateway


def direct(entry: dict[str, object]) -> Door:
    arguments: list[str] = entry["args"]  # type: ignore[assignment]
    return Door((str(entry["command"]), *arguments))


def test_without_the_gateway_it_runs_what_is_marked_read_only(entries, tmp_path: Path):
    calls = CallTool("get_current_time", TOKYO), CallTool("echo", ECHO)
    [time] = said(direct(entries["time"]), tmp_path / "time", calls[0])
    [echo] = said(direct(entries["fake"]), tmp_path / "fake", calls[1])
    assert "Asia/Tokyo" in time
    assert REFUSED in echo


def test_through_the_gateway_it_searches_and_runs_the_same(gateway: Gateway, tmp_path: Path):
    _, time, unread, echo = said(
        gateway.connect("--profile", SEARCH),
        tmp_path,
        CallTool("tool_search", {"queries": ["what time is it in another time zone"]}),
        CallTool("tool_call_read", {"name": "mcp_time_get_current_time", "arguments": TOKYO}),
        CallTool("tool_call_read", {"name": "mcp_fake_echo", "arguments": ECHO}),
        CallTool("tool_call", {"name": "mcp_fake_echo", "arguments": ECHO}),
    )
    assert "Asia/Tokyo" in time
    assert "not_read" in unread
    assert REFUSED in echo


def test_through_the_gateway_it_runs_the_same_where_all_tools_are_listed(
    gateway: Gateway, tmp_path: Path
):
    calls = CallTool("mcp_time_get_current_time", TOKYO), CallTool("mcp_fake_echo", ECHO)
    time, echo = said(gateway.connect(), tmp_path, *calls)
    assert "Asia/Tokyo" in time
    assert REFUSED in echo
