"""Toolcrib resolves beside the agent frameworks that people use most, each as it is today."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.build_release import uv_settings
from tests.release.built import built

pytestmark = [pytest.mark.release, built]

ROOT = Path(__file__).parents[2]
UV = Path(sys.prefix) / "bin" / "uv"
FRAMEWORKS = {
    "langchain": "[langchain]",
    "langgraph": "[langgraph]",
    "crewai": "",
    "openai-agents": "[openai-agents]",
    "pydantic-ai": "[pydantic-ai]",
    "llama-index": "",
    "google-adk": "",
    "autogen-agentchat": "",
    "strands-agents": "",
    "litellm": "[openai]",
}
"""Each with the extra that somebody wants beside it."""


def resolved(*wanted: str) -> list[str]:
    """The packages that are installed for these, with their versions."""
    command = [UV, "pip", "compile", "--quiet", "--no-annotate", "--python-version", "3.12", "-"]
    done = subprocess.run(
        command,
        input="\n".join(wanted),
        env={**os.environ, **uv_settings()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_newest_of_each_framework_resolves_beside_toolcrib(framework: str):
    [newest] = [each for each in resolved(framework) if each.startswith(f"{framework}==")]
    ours = f"toolcrib{FRAMEWORKS[framework]} @ {ROOT.as_uri()}"
    assert newest in resolved(newest, ours)


def test_alone_it_gets_what_the_gateway_needs():
    [sdk] = [each for each in resolved(f"toolcrib @ {ROOT.as_uri()}") if each.startswith("mcp==")]
    assert sdk.startswith("mcp==2.3")
