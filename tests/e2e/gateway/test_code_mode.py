"""The mode `code` at a running gateway: clients of other people, and a daemon that is killed."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from benchmarks.hosts import OVER, results_of_codex
from tests.e2e.gateway.running import Gateway, gateway_over
from tests.e2e.gateway.test_hosts import APPROVED, run_codex
from tests.e2e.gateway.visits import ERAS, VISITORS, Called, Door, python_client, text_of
from tests.sources.mcp.faking import left_of, nothing_left
from tests.waiting import HANG_S
from toolcrib.testing import CallTool, Say

SETTINGS = '[gateway]\nmode = "code"\n[call]\npage_tokens = 200\n'
FIXED = ["tool_search", "tool_run", "tool_result"]
SERVER = """
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("ledger")

@server.tool()
def add_entry(text: str) -> str:
    "Add an entry to the ledger."
    with open(sys.argv[1], "a") as file:
        file.write(text + "\\n")
    return text

server.run()
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[Gateway]:
    folder = tmp_path_factory.mktemp("code")
    with nothing_left(), ledger_gateway(folder) as gateway, gateway.daemon():
        yield gateway


def ledger_gateway(folder: Path) -> Any:
    """A gateway in front of a server that writes down every call which reaches it."""
    script = folder / "ledger.py"
    script.write_text(SERVER)
    args = [str(script), str(folder / "ledger.txt")]
    return gateway_over(folder, {"ledger": {"command": sys.executable, "args": args}}, SETTINGS)


def search_run_and_read(visitor: str, era: str, door: Door) -> None:
    program = 'said = await ledger.add_entry(text="from a program")\nprint("row\\n" * 2_000)\nsaid'
    calls = [
        Called("tool_search", {"queries": ["add an entry to the ledger"]}),
        Called("tool_run", {"program": program}),
    ]
    visit = VISITORS[visitor](door, era, calls)
    assert visit.tools == FIXED
    found, said = visit.texts
    assert "async def ledger.add_entry(*, text: str)" in found
    assert "[calls: mcp_ledger_add_entry done]" in said
    handle = visit.results[1]["_meta"]["toolcrib/handle"]
    read = VISITORS[visitor](door, era, [Called("tool_result", {"handle": handle, "page": 2})])
    assert "row" in read.texts[0]


@pytest.mark.clients
@pytest.mark.parametrize("way", ["connect", "http"])
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("visitor", VISITORS)
def test_clients_search_run_and_read_on(visitor: str, era: str, way: str, running: Gateway):
    search_run_and_read(visitor, era, running.connect() if way == "connect" else running.http())


@pytest.mark.clients
def test_codex_searches_runs_a_program_and_reads_its_result(running: Gateway, tmp_path: Path):
    """It asks nobody: its own question about `tool_run` is answered in its settings."""
    program = (
        "import asyncio\n"
        'made = await asyncio.gather(*[ledger.add_entry(text=f"codex {n}") for n in (1, 2)])\n'
        'f"{len(made)} entries of codex"'
    )
    turns = [
        CallTool("tool_search", {"queries": ["add an entry to the ledger"]}),
        CallTool("tool_run", {"program": "await ledger.add_entry(txt='x')"}),
        CallTool("tool_run", {"program": program}),
        Say(OVER),
    ]
    model = run_codex(running.connect(), turns, tmp_path, f"required = true\n{APPROVED}")
    assert [request.refusal for request in model.requests if request.refusal] == []
    assert model.is_over
    found, refused, said = results_of_codex(model)
    assert "async def ledger.add_entry(*, text: str)" in found
    assert "bad_program" in refused or "does not match any known parameter" in refused
    assert "2 entries of codex" in said
    written = (running.folder / "ledger.txt").read_text().split("\n")
    assert sorted(line for line in written if "codex" in line) == ["codex 1", "codex 2"]


@pytest.mark.parametrize(("era", "way"), [(ERAS[0], "http"), (ERAS[1], "connect")])
def test_search_run_and_read_on(era: str, way: str, running: Gateway):
    door = running.http() if way == "http" else running.connect()
    search_run_and_read("python", era, door)


async def run_tool(client: Client, **given: Any) -> dict[str, Any]:
    return (await client.call_tool("tool_run", given)).model_dump(by_alias=True, mode="json")


def test_a_program_that_waits_outlives_a_killed_daemon_and_each_effect_is_there_once(
    tmp_path: Path,
):
    program = '[await ledger.add_entry(text=each) for each in ("one", "two")]'

    async def once(gateway: Gateway, **given: Any) -> dict[str, Any]:
        async with python_client(gateway.connect(), ERAS[0]) as client:
            return await run_tool(client, **given)

    def approve(gateway: Gateway) -> None:
        [ticket] = json.loads(gateway.run("approvals", "--json"))
        gateway.run("approvals", "allow", ticket["id"])

    ledger = tmp_path / "ledger.txt"
    with nothing_left(), ledger_gateway(tmp_path) as gateway:
        gateway.run("ask", "ledger/add_entry")
        waits = asyncio.run(once(gateway, program=program))
        handle = waits["_meta"]["toolcrib/suspended"]
        approve(gateway)
        waits = asyncio.run(once(gateway, handle=handle))
        assert ledger.read_text() == "one\n"
        handle = waits["_meta"]["toolcrib/suspended"]
        daemon = gateway.runtime()["pid"]
        os.kill(daemon, signal.SIGKILL)
        assert left_of([daemon]) == {}
        assert asyncio.run(once(gateway, handle=handle))["_meta"]["toolcrib/suspended"] == handle
        approve(gateway)
        done = asyncio.run(once(gateway, handle=handle))
        assert gateway.runtime()["pid"] != daemon
        assert not done["isError"], text_of(done)
        assert "[calls: mcp_ledger_add_entry done x2]" in text_of(done)
        assert asyncio.run(once(gateway, handle=handle))["isError"]
        assert ledger.read_text() == "one\ntwo\n"


def test_without_the_extra_the_gateway_says_so_at_the_start(tmp_path: Path):
    (tmp_path / "pydantic_monty.py").write_text("raise ImportError")
    (tmp_path / "config.toml").write_text(SETTINGS)
    gateway = Gateway(tmp_path)
    env = {**gateway.env, "PYTHONPATH": str(tmp_path)}
    for words in (("serve",), ("serve", "--stdio")):
        done = subprocess.run(
            gateway.command(*words),
            env=env,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
            timeout=HANG_S,
        )
        assert done.returncode != 0
        assert 'gateway.mode = "code"' in done.stderr
        assert "pip install 'toolcrib[code]'" in done.stderr
