"""What needs a certain version of a package that others ask for too, beside another version."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from toolcrib.errors import ConfigError
from toolcrib.system import require_package

ROOT = Path(__file__).parents[2]
FUNCTIONS = """
import asyncio
from toolcrib import Crib
def add_one(number: int) -> int:
    "Add one."
    return number + 1
with Crib() as crib:
    crib.add(add_one)
    print(asyncio.run(crib.call("add_one", {"number": 1})).content)
    crib.add_mcp("office", command="cat")
    print(asyncio.run(crib.refresh("office"))[0].error)
"""


def with_mcp(number: str, folder: Path) -> dict[str, str]:
    """The environment of a process in which this version of the SDK is installed, and empty."""
    (folder / "mcp").mkdir(parents=True)
    (folder / "mcp" / "__init__.py").touch()
    written = folder / f"mcp-{number}.dist-info" / "METADATA"
    written.parent.mkdir()
    written.write_text(f"Metadata-Version: 2.1\nName: mcp\nVersion: {number}\n")
    return {**os.environ, "PYTHONPATH": str(folder), "HOME": str(folder)}


@pytest.mark.parametrize("number", ["1.30.0", "2.1.1", "2.4.0"])
def test_functions_work_beside_any_sdk_and_the_rest_says_what_it_needs(number: str, tmp_path: Path):
    env = with_mcp(number, tmp_path)
    command = [sys.executable, "-c", FUNCTIONS]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    called, refreshed = done.stdout.splitlines()
    assert called == "2"
    said = f"needs mcp>=2.3,<2.4, and {number} is installed; give Toolcrib an environment of its"
    assert said in refreshed
    command = [sys.executable, "-m", "toolcrib.cli", "serve", "--stdio"]
    serve = subprocess.run(command, env=env, capture_output=True, text=True, check=False, input="")
    assert serve.returncode == 2
    assert f"the gateway {said}" in serve.stderr
    assert "Traceback" not in serve.stderr


def test_a_package_that_is_not_there_is_told_too():
    with pytest.raises(
        ConfigError, match=r"the web needs no-such-package>=1.0,<2, and none is inst"
    ):
        require_package("no-such-package", "1.0", "2", "the web")


def test_what_is_installed_by_default_is_what_the_gateway_needs():
    said = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert any(each.startswith("mcp>=") and each.endswith(",<2.4") for each in said)
    assert "uvicorn>=0.34,<0.55" in said
    require_package("mcp", "2.3", "2.4", "the gateway")
    require_package("uvicorn", "0.34", "0.55", "the web server")
