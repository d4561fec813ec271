"""The gateway as a process: a real client over real pipes, and what ends it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.gateway.clients import ERAS, Era, asked, words
from tests.sources.mcp.faking import FAKE, below, left_of, nothing_left
from tests.waiting import HANG_S

SERVING = Path(__file__).with_name("stdio_gateway.py")
COMMAND = [sys.executable, str(SERVING), sys.executable, "-S", str(FAKE)]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.mark.parametrize("era", ERAS)
def test_a_real_client_searches_and_calls(era: Era):
    heard: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async def run() -> None:
        params = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=dict(os.environ))
        async with Client(stdio_client(params), mode=era, cache=None) as client:
            found = await client.call_tool("tool_search", {"queries": ["echo"]})
            assert "mcp_fake_echo" in words(found)
            echoed = {"name": "mcp_fake_echo", "arguments": {"text": "hi"}}
            got = await client.call_tool("tool_call_read", echoed)
            assert words(got) == "hi"
            assert got.structured_content
            stepped = {"name": "mcp_fake_progress", "arguments": {"steps": 2}}
            await client.call_tool("tool_call_read", stepped, progress_callback=note)
            noisy = await client.call_tool("tool_call_read", {"name": "_noisy", "arguments": {}})
            assert words(noisy) == "said"

    with nothing_left():
        asked(run)
    assert heard == [0, 1]


@pytest.fixture
def process() -> Iterator["subprocess.Popen[bytes]"]:
    started = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with started:
        yield started
        started.kill()


def exchange(process: "subprocess.Popen[bytes]", *lines: bytes) -> dict[str, Any]:
    """The first message that comes back."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"".join(line + b"\n" for line in lines))
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def first_line(process: "subprocess.Popen[bytes]") -> None:
    """Skip what was printed before the wire was taken."""
    assert process.stdout
    assert b"before" in process.stdout.readline()


def test_told_to_stop_it_ends_with_all_that_it_started(process: "subprocess.Popen[bytes]"):
    first_line(process)
    assert exchange(process, b"", b"not json")["error"]["code"] == -32700
    long = b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"a":"' + b"x" * (9 * 2**20) + b'"}}'
    refused = exchange(process, long)
    assert (refused["id"], refused["error"]["code"]) == (9, -32600)
    assert exchange(process, json.dumps(HELLO).encode())["id"] == 1
    children = below(process.pid)
    assert children
    process.send_signal(signal.SIGTERM)
    assert process.wait(HANG_S) == 0
    assert process.stdout
    assert process.stdout.read() == b""
    assert left_of(children) == {}


def test_files_do_for_pipes_and_their_end_ends_it(tmp_path: Path):
    given = tmp_path / "in"
    given.write_text(json.dumps(HELLO) + "\n")
    with nothing_left(), given.open("rb") as source, (tmp_path / "out").open("wb") as sink:
        done = subprocess.run(COMMAND, stdin=source, stdout=sink, timeout=HANG_S, check=False)
    assert done.returncode == 0
    told = (tmp_path / "out").read_text().splitlines()
    assert json.loads(told[1])["result"]["protocolVersion"] == "2025-06-18"
