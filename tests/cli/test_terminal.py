"""The commands at a real terminal of 80 columns, with names and errors as long as real ones."""

import json
import sys
from pathlib import Path

import pytest

from tests.sources.mcp.faking import FAKE, own_file
from tests.terminal import at_terminal

LONG = "awslabs-amazon-bedrock-agentcore-mcp-server-of-my-own"
TOOL = f"mcp_{LONG}_echo"


@pytest.fixture
def named(tmp_path: Path) -> tuple[str, str]:
    """The options that name a server with a long name, and one that does not start."""
    file = own_file()
    good = {"command": sys.executable, "args": ["-S", str(FAKE)]}
    bad = {"command": sys.executable, "args": ["-S", str(FAKE), "exit-at-once"]}
    file.write_text(json.dumps({"mcpServers": {LONG: good, "broken": bad}}))
    return "--mcp-config", str(file)


def test_every_listing_fits_and_names_are_whole(named: tuple[str, str]):
    done = at_terminal(*named, "refresh")
    assert done.code == 1
    assert "\nbroken: " in done.text
    for command in (["servers"], ["list"], ["search", "echo"], ["tokens"]):
        shown = at_terminal(*named, *command)
        assert shown.code == 0
        lines = [each for each in shown.text.splitlines() if not each.startswith("toolcrib: ")]
        assert [line for line in lines if len(line) > 80 and " " in line.strip()] == []
        words = {word for line in lines for word in line.split()}
        assert words & {LONG, TOOL, f"mcp:{LONG}"}, command


def test_a_server_that_failed_says_so_in_a_word_and_why_below(named: tuple[str, str]):
    at_terminal(*named, "refresh")
    table, _, notes = at_terminal(*named, "servers").text.partition("\n\n")
    assert ["broken", "failed", "0"] in [line.split()[:3] for line in table.splitlines()]
    assert "no licence found" not in table
    assert notes.startswith("broken: ")
    assert "no licence found" in " ".join(notes.split())


def test_there_is_no_colour_where_it_is_not_wanted():
    assert "\x1b[" in at_terminal("list").raw
    plain = at_terminal("list", env={"NO_COLOR": "1"}).raw
    assert not any(f"\x1b[{colour}m" in plain for colour in range(30, 38))
