"""Servers that die after a call was sent: a read is sent again, nothing else is.

The tool says of itself that it only reads. Plan: test 25.
"""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.opening import ALLOW, crib_over
from tests.sources.mcp.faking import FAKE, nothing_left
from toolcrib.model import Outcome

NAME = "mcp_fake_cut"
READ = {"permission": {"cut": "read"}}


def cut(folder: Path, server: Mapping[str, object], deaths: int) -> tuple[Outcome, int]:
    """How the call ended, and how often it reached the server."""
    marks = folder / "marks"
    servers = {"fake": {"command": sys.executable, "args": ["-S", str(FAKE), "cut"], **server}}
    with nothing_left(), crib_over(folder, servers, approval=ALLOW) as crib:
        outcome = asyncio.run(crib.call(NAME, {"file": str(marks), "deaths": deaths}))
    return outcome, len(marks.read_text())


@pytest.mark.parametrize("server", [READ, {"trust": "open"}], ids=["by override", "by trust"])
def test_a_read_that_was_cut_is_sent_once_more(tmp_path: Path, server: Mapping[str, object]):
    outcome, reached = cut(tmp_path, server, deaths=1)
    assert outcome.ok, outcome
    assert reached == 2


def test_a_read_that_was_cut_twice_is_lost(tmp_path: Path):
    outcome, reached = cut(tmp_path, READ, deaths=9)
    assert outcome.error
    assert (outcome.error.code, outcome.error.effect) == ("connection_lost", "unknown")
    assert reached == 2


@pytest.mark.parametrize(
    "server",
    [{}, {"permission": {"cut": "write"}, "trust": "open"}, {"permission": {"cut": "dangerous"}}],
    ids=["on its own word", "by override", "dangerous"],
)
def test_nothing_else_is_sent_twice(tmp_path: Path, server: Mapping[str, object]):
    outcome, reached = cut(tmp_path, server, deaths=1)
    assert outcome.error
    assert (outcome.error.code, outcome.error.effect) == ("connection_lost", "unknown")
    assert reached == 1
