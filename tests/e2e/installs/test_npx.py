"""A first start by the real npx, from a registry on loopback: left in the middle, and damaged."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.installs.npm_registry import NEEDED, SERVER, Registry, npm_registry
from tests.sources.mcp.faking import nothing_left
from tests.waiting import until
from toolcrib import Crib
from toolcrib.sources.mcp import ServerEntry

pytestmark = pytest.mark.skipif(not shutil.which("npx"), reason="there is no npx here")

LISTS = """
import asyncio, json, sys
from toolcrib import Crib

async def main():
    with Crib() as crib:
        crib.add_mcp("toy", **json.loads(sys.argv[1]))
        await crib.refresh("toy")

asyncio.run(main())
"""


@pytest.fixture
def registry() -> Iterator[Registry]:
    with npm_registry() as registry:
        yield registry


@pytest.fixture
def toy(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ServerEntry]:
    """The entry of the server, which nobody here has installed yet."""
    monkeypatch.setenv("HOME", str(tmp_path))
    env = {"npm_config_registry": registry.url, "npm_config_cache": str(tmp_path / "npm")}
    with nothing_left():
        yield {"command": "npx", "args": ["-y", SERVER], "env": env, "start_timeout_s": 20}


def refreshed(entry: ServerEntry) -> str:
    """What is wrong with the server and what to do; nothing if it lists its tools."""
    with Crib() as crib:
        crib.add_mcp("toy", **entry)
        (done,) = asyncio.run(crib.refresh("toy"))
        return done.error and f"{done.error} {done.remedy}"


def test_a_damaged_install_is_recognised_and_its_folder_named(toy, registry, tmp_path):
    registry.open.set()
    assert refreshed(toy) == ""
    (folder,) = (tmp_path / "npm/_npx").iterdir()
    (folder / "node_modules" / NEEDED / "index.js").unlink()  # as one that was cut leaves it
    said = refreshed(toy)
    assert "what npx has installed of it seems damaged" in said
    assert f"rm -rf {folder}, then run toolcrib refresh toy" in said
    shutil.rmtree(folder)
    assert refreshed(toy) == ""


def test_an_install_whose_program_is_killed_is_whole_afterwards(toy, registry, tmp_path):
    program = subprocess.Popen([sys.executable, "-c", LISTS, json.dumps(toy)])
    registry.asked_for.wait()
    program.kill()
    program.wait()
    registry.open.set()
    until(lambda: list((tmp_path / "npm/_npx").glob(f"*/node_modules/{NEEDED}/index.js")))
    assert refreshed(toy) == ""
