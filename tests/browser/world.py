"""What the browser looks at: a gateway before some servers, its clients, and its dashboard.

All of them are programs as their users run them, in a home of their own. Only the dashboard's clock
is ours: `World.later` moves it on.
"""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Coroutine, Generator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar
from uuid import uuid4

from mcp import Client

from tests.browser.samples import SERVERS, SampleServer
from tests.e2e.gateway.running import Gateway, gateway_over
from tests.e2e.gateway.visits import HANDSHAKE, Door, python_client
from tests.waiting import until
from toolcrib.connect import ConnectOptions, locate_daemon
from toolcrib.gateway import ask_daemon
from toolcrib.model import Json

Found = TypeVar("Found")
SERVER = Path(__file__).with_name("sample_server.py")
SETTINGS = """
[approval]
servers = "ask"
wait_s = 200

[gateway.profiles.search]
mode = "search"
"""
CLOCKED = """
from functools import partial
from pathlib import Path
from toolcrib.cli import main
from toolcrib.dashboard import process
from toolcrib.dashboard.login import waking_clock

def clock():
    return waking_clock() + float(Path({moved!r}).read_text() or 0)

process.Logins = partial(process.Logins, clock)
main()
"""


class Link(NamedTuple):
    """What the dashboard printed: where it is, and what is good once."""

    origin: str
    secret: str

    @property
    def address(self) -> str:
        return f"{self.origin}/login#{self.secret}"


class World:
    """A gateway with its dashboard."""

    def __init__(self, gateway: Gateway, moved: Path) -> None:
        self.gateway = gateway
        self._moved = moved
        self._terminal = -1

    @contextmanager
    def dashboard(self) -> Generator[None]:
        """Its dashboard runs meanwhile, with a terminal in front of it."""
        ours, theirs = os.openpty()
        command = self.gateway.command("dashboard", "--no-browser", "--json")
        program = CLOCKED.format(moved=str(self._moved))
        command = tuple(program if "import main" in each else each for each in command)
        with subprocess.Popen(
            command, env=self.gateway.env, stdin=theirs, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout
            os.close(theirs)
            self._terminal, self._lines = ours, process.stdout
            self._read_link()
            try:
                yield
            finally:
                process.terminate()
                os.close(ours)

    def new_link(self) -> Link:
        """Press Enter where the dashboard runs."""
        os.write(self._terminal, b"\n")
        return self._read_link()

    def _read_link(self) -> Link:
        link = json.loads(self._lines.readline())["link"]
        origin, _, secret = link.partition("/login#")
        return Link(origin, secret)

    @contextmanager
    def later(self, seconds: float) -> Generator[None]:
        """The dashboard's clock is ahead meanwhile."""
        self._moved.write_text(str(seconds))
        try:
            yield
        finally:
            self._moved.write_text("0")

    def ask(self, do: str, **more: Json) -> Any:
        """Ask the gateway as the operator's commands do."""
        options = ConnectOptions(str(self.gateway.folder / "config.toml"))
        return ask_daemon(locate_daemon(options, self.gateway.env), do, **more)

    @property
    def events(self) -> Path:
        """The log of its events."""
        return Path(self.gateway.env["HOME"], ".local", "share", "toolcrib", "events.db")

    def waiting(self) -> dict[str, Mapping[str, Any]]:
        """The calls that wait for the operator, by ticket."""
        return {each["id"]: each for each in self.ask("approvals")}

    def ticket_for(self, to: str) -> str:
        """The ticket of a call that waits with this address; "" if there is none."""
        found = (id for id, each in self.waiting().items() if each["arguments"].get("to") == to)
        return next(found, "")

    def define(self, server: str, tool: str, **fields: Any) -> None:
        """From now on the server says this of a tool; it is listed anew."""
        file = tools_file(self.gateway.folder, server)
        tools = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**tools, tool: {**tools.get(tool, {}), **fields}}))
        self.ask("refresh", servers=[server])


def tools_file(folder: Path, server: str) -> Path:
    return folder / f"{server}.json"


@contextmanager
def world_in(
    folder: Path, servers: Mapping[str, SampleServer] = SERVERS, embedder: str = "none"
) -> Generator[World]:
    """A gateway before these servers, with its dashboard."""
    entries: dict[str, Any] = {}
    for name, sample in servers.items():
        file = tools_file(folder, name)
        file.write_text(json.dumps(sample.tools), encoding="utf-8")
        command = {"command": sys.executable, "args": ["-S", str(SERVER), str(file)]}
        entries[name] = {**command, "permission": sample.permission}
    moved = folder / "clock"
    moved.write_text("0")
    with gateway_over(folder, entries, SETTINGS) as gateway:
        settings = folder / "config.toml"
        chosen = f'embedder = "{embedder}"'
        settings.write_text(settings.read_text().replace('embedder = "none"', chosen))
        yield from _serving(gateway, moved)


def _serving(gateway: Gateway, moved: Path) -> Generator[World]:
    with gateway.daemon():
        world = World(gateway, moved)
        with world.dashboard():
            yield world


class ClientThread:
    """A real client, on a thread of its own: Playwright has the loop of this one."""

    def __init__(self, door: Door, era: str, **options: Any) -> None:
        self._door, self._era, self._options = door, era, options
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._client: Client | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._ended = asyncio.Event()
        ready: Future[None] = Future()
        self._serving = asyncio.run_coroutine_threadsafe(self._stay(ready), self._loop)
        until(lambda: ready.done() or self._serving.done(), "the client is connected")
        if self._serving.done():
            self._serving.result()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._serving.result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stay(self, ready: "Future[None]") -> None:
        async with python_client(self._door, self._era, **self._options) as self._client:
            ready.set_result(None)
            await self._ended.wait()

    def begin(self, work: Coroutine[Any, Any, Found]) -> "Future[Found]":
        """Something that the client does meanwhile."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> "Future[Any]":
        """A `tools/call` that is made now."""
        assert self._client
        return self.begin(self._client.call_tool(name, dict(arguments or {})))

    def call_through(self, name: str, **arguments: Any) -> "Future[Any]":
        """A call of a tool that was found, by the fixed tool for that."""
        return self.call("tool_call", {"name": name, "arguments": arguments})


def code_of(result: Any) -> str:
    """The code of an error; nothing where there is none."""
    return result.structured_content["error"]["code"] if result.is_error else ""


def text_of(result: Any) -> str:
    return "\n".join(each.text for each in result.content)


@contextmanager
def client_of(world: World, era: str = HANDSHAKE) -> Generator[ClientThread]:
    """A client at the shim that finds tools by searching."""
    with ClientThread(world.gateway.connect("--profile", "search"), era) as client:
        yield client


def one_waiting(world: World, client: ClientThread, **arguments: Any) -> str:
    """The ticket of a call that waits, which nobody else makes. Its client has gone on."""
    mark = uuid4().hex
    call = client.call_through("mcp_mail_send_mail", to=mark, subject="x", body="x", **arguments)
    ticket = until(lambda: world.ticket_for(mark), "the call waits")
    call.cancel()
    return ticket
