"""A daemon in this process, and a client that says what it likes to it."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.gateway import echo_servers
from tests.waiting import HANG_S
from toolcrib.connect import ConnectOptions, DaemonFiles, DaemonInfo, locate_daemon
from toolcrib.crib import Crib
from toolcrib.gateway import DEFAULT_PROFILE, KeyTerms, keys_in
from toolcrib.gateway import daemon as daemons
from toolcrib.gateway.daemon import Daemon
from toolcrib.gateway.daemon_lock import DaemonLock
from toolcrib.settings import Settings
from toolcrib.system import RUN_FOLDER_VARIABLE

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "by hand", "version": "1"},
}


def bare(**others: Any) -> Settings:
    """Settings of a crib with nothing in it, and no trace on disk."""
    quiet: dict[str, Any] = {"apps": {"enabled": False}, "embed": {"embedder": "none"}}
    return Settings.model_validate(
        {"store": ":memory:", "builtin_tools": False, "plugins": False, **quiet, **others}
    )


def environ(folder: Path) -> dict[str, str]:
    """An environment whose daemon is in this folder."""
    return {
        "HOME": os.environ["HOME"],
        "PATH": os.environ["PATH"],
        RUN_FOLDER_VARIABLE: str(folder / "run"),
    }


def files_in(folder: Path) -> DaemonFiles:
    return locate_daemon(ConnectOptions(), environ(folder))


class Reached(NamedTuple):
    """Where a daemon is. `token` is a key that is good for every profile of its settings."""

    pid: int
    socket: str
    port: int
    token: str


@asynccontextmanager
async def serving(
    folder: Path,
    settings: Settings | None = None,
    *,
    crib: Callable[[], Crib] | None = None,
    servers: Callable[[Crib], Any] = echo_servers.EchoServers,
    opening: daemons.DaemonSetup | None = None,
    **options: Any,
) -> AsyncGenerator[tuple[Daemon, Reached]]:
    """A daemon that serves as long as this lasts."""
    lock = DaemonLock(files_in(folder))
    daemon = Daemon(opening or opened(settings, crib, servers), lock, **options)
    ready: asyncio.Future[DaemonInfo] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(daemon.run(ready.set_result))
    try:
        await asyncio.wait({ready, running}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            await running
        yield daemon, _reached(daemon, ready.result())
    finally:
        daemon.stop()
        await running
        lock.close()


def opened(
    settings: Settings | None = None,
    crib: Callable[[], Crib] | None = None,
    servers: Callable[[Crib], Any] = echo_servers.EchoServers,
) -> daemons.DaemonSetup:
    """How a daemon comes to what it serves: by settings, or by a crib that is made by hand."""

    def make(settings: Settings) -> Crib:
        return crib() if crib else Crib.from_settings(settings)

    return daemons.DaemonSetup(
        lambda: (settings or bare(), ""), make, servers, lambda _settings: ()
    )


def _reached(daemon: Daemon, runtime: DaemonInfo) -> Reached:
    settings = daemon.serving.crib.settings
    return Reached(runtime.pid, runtime.socket, runtime.port, new_key(settings, "owner"))


def new_key(settings: Settings, name: str, *profiles: str) -> str:
    """A key for these profiles, or for all that there are. One of the same name is replaced."""
    keys = keys_in(settings.state_folder)
    if any(key.name == name for key in keys.all()):
        keys.remove(name)
    terms = KeyTerms(profiles or (DEFAULT_PROFILE, *settings.gateway.profiles))
    return keys.add(name, terms)


class Answer(NamedTuple):
    """What came back over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The one word of a refusal."""
        return self.json["error"]["data"]["code"]


async def say(port: int, raw: bytes, *, wait_s: float = HANG_S) -> bytes:
    """Say this to the port, and hear what comes until the other side hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(raw)
        async with asyncio.timeout(wait_s):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def request(
    port: int,
    method: str = "POST",
    path: str = "/mcp",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Answer:
    """One request, with just these headers beside Host and the length."""
    named = {"Host": f"127.0.0.1:{port}", "Connection": "close", **(headers or {})}
    if body:
        named.setdefault("Content-Length", str(len(body)))
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    said = await say(port, f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
    return parsed(said)


def parsed(said: bytes) -> Answer:
    head, _, body = said.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    named = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    if named.get("transfer-encoding") == "chunked":
        body = _unchunked(body)
    return Answer(int(first.split()[1]) if first else 0, named, body)


def _unchunked(body: bytes) -> bytes:
    pieces: list[bytes] = []
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        pieces.append(body[:length])
        body = body[length + 2 :]
    return b"".join(pieces)


def rpc(method: str, id: object = 1, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()


def with_token(token: str, **more: str) -> dict[str, str]:
    """The headers of a client that does everything right, in the modern era."""
    return {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **{name.replace("_", "-"): value for name, value in more.items()},
    }


MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def call(
    port: int, token: str, tool: str, path: str = "/mcp", id: object = 1, **arguments: Any
) -> Answer:
    """A tool call of the modern era: one request, no session."""
    headers = with_token(
        token, MCP_Protocol_Version="2026-07-28", Mcp_Method="tools/call", Mcp_Name=tool
    )
    body = rpc("tools/call", id, name=tool, arguments=arguments, _meta=MODERN)
    return await request(port, path=path, headers=headers, body=body)
