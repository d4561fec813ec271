"""Hosts of other people, with a model that plays a script: it searches, calls, gets the result."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scripts.install_test_clients import command
from tests.e2e.gateway.conftest import PROFILE, SEARCH, Twelve
from tests.e2e.gateway.errands import Errand
from tests.e2e.gateway.running import gateway_over
from tests.e2e.gateway.visits import Door
from tests.sources.mcp.faking import FAKE, nothing_left
from toolcrib.testing import CallTool, Say, ScriptedModel
from toolcrib.testing.script import Turn

TIMEOUT = 150

pytestmark = pytest.mark.clients

CODEX = """\
model = "scripted"
model_provider = "scripted"
approval_policy = "never"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"

[mcp_servers.toolcrib]
command = {program}
args = {arguments}
env = {env}
"""
APPROVED = 'default_tools_approval_mode = "approve"\n'
"""`tool_call` may change things, so that codex asks before it is called; there is nobody to ask."""


def script(errand: Errand, prefix: str = "") -> list[Turn]:
    return [
        CallTool(f"{prefix}tool_search", {"queries": [errand.query]}),
        CallTool(f"{prefix}tool_call", {"name": errand.tool, "arguments": errand.arguments}),
        Say("That was it."),
    ]


def host(words: list[str], folder: Path, **variables: str) -> str:
    """Run a host to its end, in a home of its own; what it prints."""
    env = {"HOME": str(folder), "PATH": os.environ["PATH"], **variables}
    done = subprocess.run(
        words,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def outputs(model: ScriptedModel, key: str, kind: str, field: str) -> list[str]:
    """What the host gave the model as results, as its last request has them."""
    items: list[dict[str, Any]] = model.requests[-1].json[key]
    return [
        json.dumps(each[field]) for each in items if kind in {each.get("type"), each.get("role")}
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
        words = [*command("codex"), "exec", "--skip-git-repo-check", "--json", "Do it"]
        assert "That was it." in host(words, folder)
    return model


def of_codex(model: ScriptedModel) -> list[str]:
    return outputs(model, "input", "function_call_output", "output")


def test_codex_does_not_wait_for_a_server_and_need_not(twelve: Twelve, tmp_path: Path):
    errand = twelve.errands[1]
    model = run_codex(twelve.gateway.connect("--profile", SEARCH), script(errand), tmp_path)
    check(model, of_codex(model), errand)


def test_codex_is_shown_all_tools_of_a_small_pool(twelve: Twelve, tmp_path: Path):
    errand = twelve.errands[1]
    turns = [CallTool(errand.tool, errand.arguments), Say("That was it.")]
    model = run_codex(twelve.gateway.connect(), turns, tmp_path)
    [said] = of_codex(model)
    assert errand.words in said


def test_codex_waits_for_the_daemon_where_it_is_told_to(tmp_path: Path):
    server = {"command": sys.executable, "args": ["-S", str(FAKE)]}
    errand = Errand("the echo tool", "mcp_fake_echo", "pid", {"text": "hello"})
    with nothing_left(), gateway_over(tmp_path, {"fake": server}, PROFILE) as gateway:
        door, folder = gateway.connect("--profile", SEARCH), tmp_path / "codex"
        model = run_codex(door, script(errand), folder, f"required = true\n{APPROVED}")
        check(model, of_codex(model), errand)


def opencode(url: str, door: Door) -> dict[str, Any]:
    """The configuration of opencode. It has a title made for each session, but not here."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"model": {"name": "model", "tool_call": True}},
    }
    server = {
        "type": "local",
        "command": [*door.command],
        "environment": {**door.env},
        "enabled": True,
    }
    return {
        "model": "scripted/model",
        "autoupdate": False,
        "share": "disabled",
        "agent": {"title": {"disable": True}},
        "provider": {"scripted": provider},
        "mcp": {"toolcrib": server},
        "permission": {"*": "allow"},
    }


def test_opencode(twelve: Twelve, tmp_path: Path):
    errand, door = twelve.errands[3], twelve.gateway.connect("--profile", SEARCH)
    with ScriptedModel(script(errand, "toolcrib_")) as model:
        (tmp_path / "opencode.json").write_text(json.dumps(opencode(model.url, door)))
        words = [*command("opencode"), "run", "--format", "json", "What is new in my repository?"]
        said = host(words, tmp_path, OPENCODE_DISABLE_MODELS_FETCH="1")
        assert "That was it." in said
        check(model, outputs(model, "messages", "tool", "content"), errand)
