"""Servers that die after a call was sent: a read is sent again, nothing else is.

The tool says of itself that it only reads.
"""

import asyncio
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.e2e.opening import ALLOW, crib_over
from tests.plan import amount
from tests.sources.mcp.faking import FAKE, nothing_left
from toolcrib.model import Outcome

NAME = "mcp_fake_cut"
READ = {"permission": {"cut": "read"}}

pytestmark = pytest.mark.plan(25)


def cut(folder: Path, server: Mapping[str, object], deaths: int) -> Iterator[tuple[Outcome, int]]:
    """How calls ended, and how often each reached the server."""
    tool = {"command": sys.executable, "args": ["-S", str(FAKE), "cut"], **server}
    for number in range(amount(25, "deaths of a server")):
        marks = folder / str(number)
        with nothing_left(), crib_over(folder, {"fake": tool}, approval=ALLOW) as crib:
            outcome = asyncio.run(crib.call(NAME, {"file": str(marks), "deaths": deaths}))
        yield outcome, marks.stat().st_size


def lost(outcome: Outcome) -> bool:
    error = outcome.error
    return error is not None and (error.code, error.effect) == ("connection_lost", "unknown")


@pytest.mark.parametrize("server", [READ, {}], ids=["by override", "on its own word"])
def test_a_read_that_was_cut_is_sent_once_more(tmp_path: Path, server: Mapping[str, object]):
    for outcome, reached in cut(tmp_path, server, deaths=1):
        assert outcome.ok, outcome
        assert reached == 2


def test_a_read_that_was_cut_twice_is_lost(tmp_path: Path):
    for outcome, reached in cut(tmp_path, READ, deaths=9):
        assert lost(outcome), outcome
        assert reached == 2


@pytest.mark.parametrize(
    "server",
    [
        {"believe_annotations": False},
        {"believe_annotations": False, "trust": "open"},
        {"permission": {"cut": "write"}},
        {"permission": {"cut": "dangerous"}},
    ],
    ids=["not believed", "not believed, though open", "by override", "dangerous"],
)
def test_nothing_else_is_sent_twice(tmp_path: Path, server: Mapping[str, object]):
    for outcome, reached in cut(tmp_path, server, deaths=1):
        assert lost(outcome), outcome
        assert reached == 1
