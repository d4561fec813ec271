"""What a server asks to be always loaded: shown, bounded, and the operator may say no."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.sources.mcp.faking import FAKE, own_file
from toolcrib.sources.mcp.tool_definitions import MOST_LOADED

ASKING = {f"ask_{number}": {"_meta": {"anthropic/alwaysLoad": True}} for number in range(8)}
IN_VAIN = "waits: tool_search is on, though its server asks to show it"


@pytest.fixture
def named(run: Run, tmp_path: Path) -> tuple[str, str]:
    """The options that name a server with eight tools that ask to be always loaded."""
    rug, file = tmp_path / "rug.json", own_file()
    rug.write_text(json.dumps(ASKING))
    args = ["-S", str(FAKE), f"rug={rug}"]
    file.write_text(
        json.dumps({"mcpServers": {"eager": {"command": sys.executable, "args": args}}})
    )
    assert run("--mcp-config", str(file), "refresh").code == 0
    return "--mcp-config", str(file)


def asking(run: Run, named: tuple[str, str]) -> list[Any]:
    return [row for row in run(*named, "list", "--json").json if "_ask_" in row["name"]]


def test_the_list_shows_it(run: Run, named: tuple[str, str]):
    words = [row["deferral"] for row in asking(run, named)]
    assert words.count("always shown: its server asks for it") == MOST_LOADED
    assert words.count(IN_VAIN) == len(ASKING) - MOST_LOADED


def test_tokens_and_doctor_tell_what_it_costs(run: Run, named: tuple[str, str]):
    [asked] = run(*named, "tokens", "--json").json["asked_loads"]
    rows = asking(run, named)
    cost = sum(
        row["tokens"] for row in rows if row["deferral"].startswith("always shown: its server")
    )
    assert asked == {"source": "mcp:eager", "loaded": MOST_LOADED, "tokens": cost, "left": 3}
    told = f"mcp:eager: {MOST_LOADED} tools are never deferred, {cost:,} tokens of each request"
    assert told in run(*named, "tokens").out
    [found] = [each for each in run(*named, "doctor", "--json").json if each["area"] == "loads"]
    assert (found["level"], found["message"].startswith(told)) == ("warning", True)
    assert "mcp.always_load = false" in found["remedy"]


def test_the_operator_may_say_no(run: Run, named: tuple[str, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLCRIB_MCP__ALWAYS_LOAD", "false")
    assert {row["deferral"] for row in asking(run, named)} == {IN_VAIN}
    [asked] = run(*named, "tokens", "--json").json["asked_loads"]
    assert (asked["loaded"], asked["tokens"], asked["left"]) == (0, 0, len(ASKING))


def test_list_and_tokens_have_one_sum(run: Run, named: tuple[str, str]):
    rows = run(*named, "list", "--json").json
    figures = run(*named, "tokens", "--json").json
    assert sum(row["tokens"] for row in rows) == figures["eager"]
    *_, last = run(*named, "list").out.splitlines()
    assert f"All {figures['tools']} tools" in last
    assert f"{figures['eager']:,} tokens, {figures['how']}." in last
