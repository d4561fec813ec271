"""A list of tools that was cut is no secret: each place that shows the server says so."""

import sys

import pytest

from tests.cli.conftest import Run
from tests.sources.mcp.faking import FAKE
from toolcrib.crib import Crib, inventory_of
from toolcrib.dashboard.screens.servers import _reason
from toolcrib.settings import load_settings
from toolcrib.sources.mcp.client import list_requests
from toolcrib.sources.mcp.client.list_requests import LARGEST_LISTING

CUT = "its list was cut after"


@pytest.fixture
def api(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A server with more tools than are taken."""
    monkeypatch.setattr(list_requests, "LARGEST_LISTING", LARGEST_LISTING // 100)
    assert run("add", "api", "--", sys.executable, "-S", str(FAKE), "many").code == 0
    return run


def test_each_command_says_that_it_was_cut(api: Run):
    assert CUT in api("refresh", "api").out
    assert CUT in api("refresh", "api", "--json").json[0]["cut"]
    for command in ("servers", "list", "doctor"):
        assert f"api: {CUT}" in api(command).out, command


def test_the_dashboard_says_so_and_a_call_of_a_tool_beyond_it(api: Run):
    api("refresh", "api")
    with Crib.from_settings(load_settings({})) as crib:
        status = inventory_of(crib).servers["api"].status()
    assert CUT in str(_reason(status, whole=False))
    assert CUT in api("call", "mcp_api_t19999", "{}").err
