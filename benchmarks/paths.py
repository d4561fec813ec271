"""How far one request goes through the code: the files and functions of ours that it passes.

    python -m benchmarks.paths

Three requests: one search, a call of a server that is asleep, and a `tools/call` through the
gateway, whose server runs. Each is made in a process of its own, by what users have: a `Crib` of
the settings, or `toolcrib serve --stdio` and a client of the MCP SDK. Every request is made once
before it is counted, so that nothing counts which happens at the first one alone; the sleeping
server is put to sleep again. A function counts once, whichever thread runs it.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

from mcp import Client, StdioServerParameters

from benchmarks.home import Home
from toolcrib import Crib, load_settings
from toolcrib.cli import main as main_of_cli

FAKE = Path(__file__).parents[1] / "tests" / "sources" / "mcp" / "fake_server.py"
TOOL = "mcp_fake_echo"
ARGUMENTS = {"text": "hello"}
SERVE = "from benchmarks.paths import serve; serve()"
OURS = "/toolcrib/"
NOTES = "notes.json"


class Passed(NamedTuple):
    """How many files, and functions in them, one request passes."""

    files: int
    functions: int


class Tracer:
    """Notes which functions of ours are entered, in every thread, while it is on."""

    def __init__(self) -> None:
        self._on = False
        self._entered: set[CodeType] = set()
        threading.setprofile(self._enter)
        sys.setprofile(self._enter)

    def start(self) -> None:
        self._entered.clear()
        self._on = True

    def stop(self) -> Passed:
        self._on = False
        ours = {each for each in self._entered if OURS in each.co_filename}
        named = {each for each in ours if not each.co_name.startswith("<")}
        return Passed(len({each.co_filename for each in named}), len(named))

    def _enter(self, frame: FrameType, event: str, _: object) -> None:
        if self._on and event == "call":
            self._entered.add(frame.f_code)


def search() -> Passed:
    tracer = Tracer()
    with Crib.from_settings(load_settings(os.environ)) as crib:
        crib.search("say the same words again")
        tracer.start()
        crib.search("repeat what it is given")
        return tracer.stop()


def sleeping() -> Passed:
    """The first crib loads whatever a first call loads; the server of the second is asleep."""
    tracer = Tracer()
    first_call(tracer)
    return first_call(tracer)


def first_call(tracer: Tracer) -> Passed:
    with Crib.from_settings(load_settings(os.environ)) as crib:
        tracer.start()
        outcome = asyncio.run(crib.call(TOOL, ARGUMENTS))
        passed = tracer.stop()
    if outcome.error:
        raise SystemExit(f"nothing was measured: {outcome.error.message}")
    return passed


def gateway() -> Passed:
    notes = Path.home() / NOTES
    server = StdioServerParameters(
        command=sys.executable, args=["-c", SERVE], env=dict(os.environ), cwd=Path.cwd()
    )

    async def ask() -> None:
        async with Client(server) as client:
            await client.call_tool(TOOL, ARGUMENTS)
            pid = int(notes.read_text())
            os.kill(pid, signal.SIGUSR1)
            await client.call_tool(TOOL, ARGUMENTS)
            os.kill(pid, signal.SIGUSR2)
            await client.list_tools()  # whatever it was told before has then been done

    asyncio.run(ask())
    return Passed(*json.loads(notes.read_text()))


def serve() -> None:
    """`toolcrib serve --stdio`, traced from one signal to another."""
    notes = Path.home() / NOTES
    tracer = Tracer()

    def start(_signal: int, _frame: FrameType | None) -> None:
        tracer.start()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        notes.write_text(json.dumps(tracer.stop()))

    signal.signal(signal.SIGUSR1, start)
    signal.signal(signal.SIGUSR2, stop)
    notes.write_text(str(os.getpid()))
    sys.argv = ["toolcrib", "serve", "--stdio"]
    main_of_cli()


REQUESTS: Mapping[str, Callable[[], Passed]] = {
    "one search": search,
    "a call of a sleeping server": sleeping,
    "a tools/call through the gateway": gateway,
}


def measured(request: str, home: Home) -> Passed:
    """The request, made in a process of its own."""
    done = subprocess.run(  # noqa: S603 - this program
        [sys.executable, "-m", "benchmarks.paths", "--request", request],
        env={**os.environ, **home.env},
        capture_output=True,
        text=True,
        check=True,
    )
    return Passed(*json.loads(done.stdout.splitlines()[-1]))


def main(arguments: Sequence[str]) -> None:
    parser = ArgumentParser(description="How far one request goes through the code.")
    parser.add_argument("--request", choices=REQUESTS, help="make this one, here, and print it")
    options = parser.parse_args(arguments)
    if options.request:
        print(json.dumps(REQUESTS[options.request]()))
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        home.configure("", {"fake": {"command": sys.executable, "args": [str(FAKE)]}})
        home.run("refresh")
        print(f"{'':36}{'files':>6}{'functions':>11}")
        for request in REQUESTS:
            passed = measured(request, home)
            print(f"{request:36}{passed.files:>6}{passed.functions:>11}")


if __name__ == "__main__":
    main(sys.argv[1:])
