"""The examples of providers and frameworks run as they stand, and show what they say."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import HANG_S

EXAMPLES = Path(__file__).parents[2] / "examples"


BY_LIST = {"gemini", "openai_agents_sdk", "openai_chat", "pydantic_ai_agent"}
"""Where what a message surely needs is in the list at once; elsewhere it is behind the message."""


@pytest.mark.parametrize(
    "name",
    [
        "anthropic_messages",
        "gemini",
        "langchain_agent",
        "openai_agents_sdk",
        "openai_chat",
        "openai_responses",
        "pydantic_ai_agent",
    ],
)
def test_an_example_runs_offline(name: str, tmp_path: Path):
    *_, answer, first, second, third = lines_of(name, tmp_path)
    assert answer == "It stays sunny in Oslo."
    shown = ", get_forecast" if name in BY_LIST else ""
    assert first.endswith(f"sees current_time, tool_search{shown}")
    assert "get_forecast" in second
    assert "get_forecast" in third


@pytest.mark.parametrize("name", ["anthropic_programs", "openai_programs"])
def test_an_example_in_code_mode_runs_offline(name: str, tmp_path: Path):
    *_, answer, first, second, third = lines_of(name, tmp_path)
    assert answer == "It is sunny in Oslo, Rome and Lima."
    for line in (first, second, third):
        assert line.endswith("sees current_time, tool_search, tool_run")


def lines_of(name: str, folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{name}.py"],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
