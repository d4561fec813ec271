"""What the operator decides at the command line, in a gateway that runs."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.sources.mcp.faking import FAKE
from toolcrib.crib import Crib
from toolcrib.settings import load_settings, own_servers_file

ECHO = "mcp_fake_echo"


@pytest.fixture
def crib(run: Run, tmp_path: Path):
    """A crib over our own file, as a gateway has it, whose server is listed."""
    own = own_servers_file()
    own.parent.mkdir(parents=True, exist_ok=True)
    entry = {"command": sys.executable, "args": ["-S", str(FAKE)]}
    own.write_text(json.dumps({"mcpServers": {"fake": entry}}))
    run("refresh")
    with Crib.from_settings(settings()) as crib:
        assert ECHO in crib.entries()
        yield crib


def settings():
    return load_settings({"TOOLCRIB_STORE": ":memory:", "TOOLCRIB_BUILTIN_TOOLS": "false"})


def test_a_tool_that_is_rejected_is_gone_at_once_and_back_when_approved(crib: Crib, run: Run):
    run("review", "--reject", "fake/echo")
    assert crib.operator.take_settings(settings())
    assert ECHO not in crib.entries()
    assert ECHO not in [hit.name for hit in crib.search("the echo tool")]
    assert not asyncio.run(crib.call(ECHO, {"text": "x"})).ok
    run("review", "--approve", "fake/echo")
    assert crib.operator.take_settings(settings())
    assert ECHO in crib.entries()


def test_a_tool_that_is_disabled_is_shown_as_that_to_the_operator_alone(crib: Crib, run: Run):
    run("disable", "fake/echo")
    assert crib.operator.take_settings(settings())
    assert crib.entries()[ECHO].state == "disabled"
    assert ECHO not in [hit.name for hit in crib.search("the echo tool")]
    run("enable", "fake/echo")
    assert crib.operator.take_settings(settings())
    assert crib.entries()[ECHO].state == "asleep"
