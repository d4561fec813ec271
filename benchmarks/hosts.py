"""Hosts of other people whose model plays a script: their settings, and how to run one."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.install_test_clients import command
from toolcrib.testing import ScriptedModel

TIMEOUT = 150
OVER = "That was it."
"""What the model says when its script is over."""

CODEX = """\
model = "scripted"
model_provider = "scripted"
approval_policy = "never"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
"""


def opencode(url: str, servers: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of opencode. It has a title made for each session, but not here."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"model": {"name": "model", "tool_call": True}},
    }
    return {
        "model": "scripted/model",
        "autoupdate": False,
        "share": "disabled",
        "agent": {"title": {"disable": True}},
        "provider": {"scripted": provider},
        "mcp": servers,
        "permission": {"*": "allow"},
    }


def run_codex(home: Path, *options: str) -> str:
    """What codex prints about its work."""
    words = [*command("codex"), "exec", "--skip-git-repo-check", "--json", *options, "Do it"]
    return run_host(words, home)


def run_opencode(home: Path) -> str:
    """What opencode prints about its work."""
    words = [*command("opencode"), "run", "--format", "json", "Do it"]
    return run_host(words, home, OPENCODE_DISABLE_MODELS_FETCH="1")


def run_host(words: Sequence[str], home: Path, **variables: str) -> str:
    """Run a host to its end, in a home of its own; what it prints. Raises where it fails."""
    env = {"HOME": str(home), "PATH": os.environ["PATH"], **variables}
    done = subprocess.run(  # noqa: S603 - a program of our own choice
        words,
        cwd=home,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )
    if done.returncode or OVER not in done.stdout:
        raise RuntimeError(f"{words[-1]}: {done.stdout}{done.stderr}")
    return done.stdout


def results_of_codex(model: ScriptedModel) -> list[str]:
    """What codex gave its model as results, as its last request has them: JSON."""
    items = model.requests[-1].json["input"]
    found = (each["output"] for each in items if each.get("type") == "function_call_output")
    return [json.dumps(each) for each in found]


def results_of_opencode(model: ScriptedModel) -> list[str]:
    """What opencode gave its model as results, as its last request has them: JSON."""
    items = model.requests[-1].json["messages"]
    return [json.dumps(each["content"]) for each in items if each.get("role") == "tool"]
