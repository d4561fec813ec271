"""The port where apps come in.

    hello (token, name, launch command)  →  register (tools)  →  calls, until the connection ends

`AppServer` has the port and the address files; `AppConnection` is one app on it.
"""

import asyncio
import hmac
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Protocol

from toolcrib.model import Json, JsonObject, ProgressHandler
from toolcrib.sources.apps.address import (
    AddressClaim,
    AppAddress,
    own_file,
    sweep_own_files,
    write_address,
)
from toolcrib.sources.apps.json_rpc import (
    BAD_PARAMS,
    NOT_A_REQUEST,
    NOT_KNOWN,
    RemoteError,
    is_object,
)
from toolcrib.sources.apps.peer import MethodHandler, Peer, Socket
from toolcrib.sources.apps.source import AppSource

PROTOCOL = 1
HELLO_S = 5.0
MOST_CONNECTIONS = 64
LONGEST_COMMAND = 64
LONGEST_WORD = 4096
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,47}")


@dataclass(frozen=True, slots=True)
class Hello:
    """What an app says first. An empty `launch` means that it cannot be launched."""

    token: str
    name: str
    version: str = ""
    launch: tuple[str, ...] = ()


def read_hello(params: JsonObject) -> Hello:
    """Raises `RemoteError` for a hello that is not well formed."""
    match params:
        case {"token": str(token), "name": str(name), **rest} if NAME.fullmatch(name):
            version = rest.get("version", "")
            if not isinstance(version, str) or len(version) > LONGEST_COMMAND:
                raise RemoteError(BAD_PARAMS, "version is a short text")
            return Hello(token, name, version, _command(rest.get("launch", ())))
        case _:
            raise RemoteError(BAD_PARAMS, f"hello has a token and a name like {NAME.pattern}")


def _command(value: object) -> tuple[str, ...]:
    words = list[object](value) if isinstance(value, list | tuple) else [None]  # pyright: ignore[reportUnknownArgumentType]
    fits = [word for word in words if isinstance(word, str) and _is_word(word)]
    if len(fits) != len(words) or len(words) > LONGEST_COMMAND:
        raise RemoteError(BAD_PARAMS, "launch is a list of words, for no shell to read")
    if fits and not (PurePath(fits[0]).is_absolute() or PurePath(fits[0]).name == fits[0] != ""):
        raise RemoteError(BAD_PARAMS, "launch begins with a full path, or a name on the PATH")
    return tuple(fits)


def _is_word(word: str) -> bool:
    return len(word) <= LONGEST_WORD and "\0" not in word and word.isprintable()


class AppAdmission(Protocol):
    """Finds or makes the source of an app. Raises `RemoteError` if the app may not come in."""

    def __call__(self, hello: Hello, peer: Peer) -> AppSource: ...


class AppConnection:
    """One app, from its hello to its end. Requests are answered in order, after a hello only."""

    def __init__(self, socket: Socket, token: str, admit: AppAdmission) -> None:
        self.app: AppSource | None = None
        handlers: Mapping[str, MethodHandler] = {
            "hello": self._hello,
            "register": self._register,
            "unregister": self._unregister,
        }
        self.peer = Peer(socket, handlers)
        self._token = token
        self._admit = admit
        self._one_by_one = asyncio.Lock()

    async def leave(self) -> None:
        """Say that the connection has ended."""
        if self.app:
            self.app.disconnect(self.peer)
            await self.app.announce()

    async def _hello(self, params: JsonObject, _: ProgressHandler) -> Json:
        async with self._one_by_one:
            hello = read_hello(params)
            if not hmac.compare_digest(hello.token.encode(), self._token.encode()):
                raise RemoteError(NOT_KNOWN, "the token is not ours; read the address file again")
            if self.app:
                raise RemoteError(NOT_A_REQUEST, "hello is said once")
            self.app = self._admit(hello, self.peer)
            return {"protocol": PROTOCOL, "launch": list(self.app.launch)}

    async def _register(self, params: JsonObject, _: ProgressHandler) -> Json:
        async with self._one_by_one:
            app, tools = self._greeted(), _list(params, "tools")
            objects = [tool for tool in tools if is_object(tool)]
            if len(objects) != len(tools):
                raise RemoteError(BAD_PARAMS, "every tool is an object")
            refused = dict(app.register(objects))
            await app.announce()
            return {"registered": _names(app), "refused": refused}

    async def _unregister(self, params: JsonObject, _: ProgressHandler) -> Json:
        async with self._one_by_one:
            app = self._greeted()
            app.unregister([name for name in _list(params, "names") if isinstance(name, str)])
            await app.announce()
            return {"registered": _names(app)}

    def _greeted(self) -> AppSource:
        if self.app is None:
            raise RemoteError(NOT_KNOWN, "say hello first")
        return self.app


def _names(app: AppSource) -> Sequence[Json]:
    return [tool.name for tool in app.capabilities()]


def _list(params: JsonObject, key: str) -> Sequence[Json]:
    value = params.get(key)
    if not isinstance(value, list):
        raise RemoteError(BAD_PARAMS, f"{key} is a list")
    return value


class AppServer:
    """The port and the files that name it. Lives on one loop; opens when it is first needed."""

    def __init__(self, folder: Path, admit: AppAdmission) -> None:
        self._admit = admit
        self._folder = folder
        self._own = own_file(folder)
        self._opening = asyncio.Lock()
        self._open = AsyncExitStack()
        self._address: AppAddress | None = None
        self._claim: AddressClaim | None = None
        self._peers: set[Peer] = set()

    async def open(self) -> Path:
        """The file with our address, for the apps that this process launches."""
        from toolcrib.sources.apps.websocket import listening  # noqa: PLC0415 - nobody else needs it

        async with self._opening:
            if self._address is None:
                port = await self._open.enter_async_context(listening(self._serve))
                self._address = AppAddress(port, secrets.token_urlsafe(32), os.getpid())
                sweep_own_files(self._folder)
                write_address(self._own, self._address)
            return self._own

    async def publish(self) -> None:
        """Let every app of this user come in. Raises `SourceError` when another process does."""
        await self.open()
        if self._claim is None and self._address:
            self._claim = AddressClaim(self._folder)
            write_address(self._claim.file, self._address)

    async def close(self) -> None:
        """Remove the address files, and end every connection."""
        if self._claim:
            self._claim.close()
        self._own.unlink(missing_ok=True)
        await asyncio.gather(*(peer.close("Toolcrib ends") for peer in self._peers))
        await self._open.aclose()

    async def _serve(self, socket: Socket) -> None:
        if self._address is None or len(self._peers) >= MOST_CONNECTIONS:
            await socket.close("too many connections")
            return
        connection = AppConnection(socket, self._address.token, self._admit)
        self._peers.add(connection.peer)
        reading = asyncio.ensure_future(connection.peer.run())
        try:
            await asyncio.wait({reading}, timeout=HELLO_S)
            if connection.app is None:
                await connection.peer.close("no hello")
            await reading
        finally:
            reading.cancel()
            self._peers.discard(connection.peer)
            await connection.leave()
