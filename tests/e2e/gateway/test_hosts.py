"""Hosts of other people, with a model that plays a script: it searches, calls, gets the result."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import hosts
from tests.e2e.gateway.conftest import PROFILE, SEARCH, Twelve
from tests.e2e.gateway.errands import Errand
from tests.e2e.gateway.running import gateway_over
from tests.e2e.gateway.visits import Door
from tests.sources.mcp.faking import FAKE, nothing_left
from toolcrib.testing import CallTool, Say, ScriptedModel
from toolcrib.testing.script import Turn

pytestmark = pytest.mark.clients

CODEX = f"""\
{hosts.CODEX}
[mcp_servers.toolcrib]
command = {{program}}
args = {{arguments}}
env = {{env}}
"""
APPROVED = 'default_tools_approval_mode = "approve"\n'
"""`tool_call` may change things, so that codex asks before it is called; there is nobody to ask."""


def script(errand: Errand, prefix: str = "") -> list[Turn]:
    return [
        CallTool(f"{prefix}tool_search", {"queries": [errand.query]}),
        CallTool(f"{prefix}tool_call", {"name": errand.tool, "arguments": errand.arguments}),
        Say(hosts.OVER),
    ]


def table(values: dict[str, str]) -> str:
    """A table of TOML in one line."""
    return (
        "{ " + ", ".join(f"{name} = {json.dumps(value)}" for name, value in values.items()) + " }"
    )


def check(model: ScriptedModel, results: list[str], errand: Errand) -> None:
    assert [request.refusal for request in model.requests if request.refusal] == []
    assert model.is_over
    found, said = results
    assert errand.tool in found
    assert errand.words in said


def run_codex(
    door: Door, turns: Sequence[Turn], folder: Path, more: str = APPROVED
) -> ScriptedModel:
    program, *arguments = door.command
    settings = {
        "program": json.dumps(program),
        "arguments": json.dumps(arguments),
        "env": table({**door.env}),
    }
    with ScriptedModel(turns) as model:
        (folder / ".codex").mkdir(parents=True)
        config = CODEX.format(url=model.url, **settings) + more
        (folder / ".codex" / "config.toml").write_text(config)
        hosts.run_codex(folder)
    return model


def test_codex_does_not_wait_for_a_server_and_need_not(twelve: Twelve, tmp_path: Path):
    errand = twelve.errands[1]
    model = run_codex(twelve.gateway.connect("--profile", SEARCH), script(errand), tmp_path)
    check(model, hosts.results_of_codex(model), errand)


def test_codex_is_shown_all_tools_of_a_small_pool(twelve: Twelve, tmp_path: Path):
    errand = twelve.errands[1]
    turns = [CallTool(errand.tool, errand.arguments), Say(hosts.OVER)]
    model = run_codex(twelve.gateway.connect(), turns, tmp_path)
    [said] = hosts.results_of_codex(model)
    assert errand.words in said


def test_codex_waits_for_the_daemon_where_it_is_told_to(tmp_path: Path):
    server = {"command": sys.executable, "args": ["-S", str(FAKE)]}
    errand = Errand("the echo tool", "mcp_fake_echo", "pid", {"text": "hello"})
    with nothing_left(), gateway_over(tmp_path, {"fake": server}, PROFILE) as gateway:
        door, folder = gateway.connect("--profile", SEARCH), tmp_path / "codex"
        model = run_codex(door, script(errand), folder, f"required = true\n{APPROVED}")
        check(model, hosts.results_of_codex(model), errand)


def local(door: Door) -> dict[str, Any]:
    """A server that opencode starts."""
    command, env = [*door.command], {**door.env}
    return {"type": "local", "command": command, "environment": env, "enabled": True}


def test_opencode(twelve: Twelve, tmp_path: Path):
    errand, door = twelve.errands[3], twelve.gateway.connect("--profile", SEARCH)
    with ScriptedModel(script(errand, "toolcrib_")) as model:
        settings = hosts.opencode(model.url, {"toolcrib": local(door)})
        (tmp_path / "opencode.json").write_text(json.dumps(settings))
        hosts.run_opencode(tmp_path)
        check(model, hosts.results_of_opencode(model), errand)
