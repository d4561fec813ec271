"""Secrets of servers that repeat them in all that they say: none is found anywhere afterwards."""

import asyncio
import base64
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from tests.sources.mcp import telltale_server
from tests.sources.mcp.faking import own_file
from tests.waiting import until
from toolcrib.cli.app import app
from toolcrib.crib import Crib
from toolcrib.settings import Settings
from toolcrib.sources.mcp.config import environment
from toolcrib.system import last_good_copy

TELLTALE = Path(telltale_server.__file__)
IN_ENV = {f"CANARY_{n}": f"env-canary/{n}é+{n * 7919:x}" for n in range(10)}
IN_HEADERS = {f"X-Canary-{n}": f"head-canary/{n}+{n * 7907:x}?" for n in range(10)}
IN_QUERY = {f"k{n}": f"query-canary-{n}-{n * 7901:x}" for n in range(10)}
IN_ARGUMENTS = [f"arg-canary-{n}-{n * 7883:x}" for n in range(10)]


@pytest.fixture
def addresses(tmp_path: Path) -> Iterator[list[str]]:
    """Where two servers are that repeat what they are sent; the second refuses all else."""
    running: list[subprocess.Popen[bytes]] = []
    found: list[str] = []
    for modes in ([], ["refuse"]):
        file = tmp_path / f"port-{len(running)}"
        command = [sys.executable, "-S", str(TELLTALE), "--http", str(file), *modes]
        running.append(subprocess.Popen(command))
        until(file.exists)
        found.append(f"http://127.0.0.1:{file.read_text()}/mcp")
    yield found
    for process in running:
        process.terminate()
        process.wait()


@pytest.fixture
def servers(addresses: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of servers that hold canaries in every place, some of them by reference."""
    monkeypatch.setenv("REFERRED", IN_ENV["CANARY_0"])
    for (
        name
    ) in environment.CERTIFICATES:  # what this machine has is told too, and pushes others out
        monkeypatch.delenv(name, raising=False)
    options = [each for value in IN_ARGUMENTS for each in ("--token", value)]
    env = IN_ENV | {"CANARY_0": "${REFERRED}"}
    query = "&".join(f"{name}={quote(value)}" for name, value in IN_QUERY.items())
    table: dict[str, dict[str, Any]] = {
        f"near{mode}": {
            "command": sys.executable,
            "args": ["-S", str(TELLTALE), *([mode] if mode else []), *options],
            "env": env,
            "permission": {"*": "read"},
        }
        for mode in ("", "refuse", "exit")
    }
    for name, address in zip(("far", "farrefuse"), addresses, strict=True):
        table[name] = {"url": f"{address}?{query}", "headers": IN_HEADERS}
        table[name]["permission"] = {"*": "read"}
    file = own_file()
    file.write_text(json.dumps({"mcpServers": table}))
    return file


def spellings() -> set[str]:
    """Every canary as it is, and encoded."""
    found: set[str] = set()
    for value in (*IN_ENV.values(), *IN_HEADERS.values(), *IN_QUERY.values(), *IN_ARGUMENTS):
        raw = value.encode()
        found |= {value, raw.hex(), raw.hex().upper(), quote(value, safe=""), quote(value)}
        found |= {json.dumps(value)[1:-1], repr(value)[1:-1]}
        for before in range(3):
            inner = base64.b64encode(bytes(before) + raw).decode()[4:-4]
            found |= {inner, inner.translate(str.maketrans("+/", "-_"))}
    return found


def found_in(text: str) -> list[str]:
    return [each for each in spellings() if each in text]


@pytest.mark.plan(54)
def test_no_command_no_file_and_no_log_has_a_secret(
    servers: Path, home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    said: list[str] = []

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["--mcp-config", str(servers), *arguments])
        said.append(f"{done.output} {done.stderr} {done.exception!r}")
        return done.output

    with caplog.at_level(logging.DEBUG):
        refreshed = run("refresh")
        run("servers")
        listed = json.loads(run("servers", "--json"))
        run("doctor", "--json")
        run("list", "--json")
        run("show", "mcp_far_tell")
        run("search", "tell it all", "--json")
        run("review", "--json")
        for name in ("mcp_near_tell", "mcp_near_fail", "mcp_far_tell", "mcp_far_fail"):
            assert "***" in run("call", name, "{}")
        assert "***" in run("logs", "nearexit")
        run("calls", "--json")
    assert "cannot" in refreshed
    assert {each["server"] for each in listed if each["tools"]} == {"near", "far"}
    for output in (*said, caplog.text):
        assert found_in(output) == []
    files = [path for path in home.rglob("*") if path.is_file()]
    assert any("***" in path.read_bytes().decode("latin-1") for path in files)
    # The last good copy of a file with servers holds what the file holds, for its owner alone.
    copies = {path for path in files if path.parent.name == last_good_copy.FOLDER}
    assert {path.read_bytes() for path in copies} == {servers.read_bytes()}
    assert not any(path.stat().st_mode & 0o077 for path in copies)
    for path in {*files} - copies - {servers}:
        assert found_in(path.read_bytes().decode("utf-8", "replace")) == [], path


@pytest.mark.plan(54)
def test_nothing_that_a_model_reads_has_a_secret(
    servers: Path, home: Path, caplog: pytest.LogCaptureFixture
):
    del home
    heard: list[object] = []

    async def look() -> list[object]:
        settings = Settings.model_validate({"mcp_config": [servers], "builtin_tools": False})
        with Crib.from_settings(settings) as crib:
            await crib.refresh()
            calls = [
                await crib.call(name, {}, log=heard.append, progress=lambda *all: heard.append(all))
                for name in ("mcp_near_tell", "mcp_far_tell", "mcp_far_fail", "mcp_near_fail")
            ]
            offered = list(crib.entries().values())
            return [*calls, offered, crib.problems, crib.search("tell it all")]

    with caplog.at_level(logging.DEBUG):
        seen = asyncio.run(look())
    assert "told" in repr(seen)
    assert "***" in repr(heard)
    assert found_in(repr(seen) + repr(heard) + caplog.text) == []
