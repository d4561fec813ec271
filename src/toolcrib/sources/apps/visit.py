"""One connection from its hello to its end."""

import asyncio
import hmac
from collections.abc import Mapping, Sequence
from typing import Protocol

from toolcrib.model import Json, JsonObject, ProgressHandler
from toolcrib.sources.apps.hello import Hello, hello_of
from toolcrib.sources.apps.peer import Answer, Peer, Socket
from toolcrib.sources.apps.source import AppSource
from toolcrib.sources.apps.wire import BAD_PARAMS, NOT_A_REQUEST, NOT_KNOWN, RemoteError, is_object

PROTOCOL = 1


class Welcome(Protocol):
    """Who says which app this is. Raises `RemoteError` for one that may not come in."""

    def __call__(self, hello: Hello, peer: Peer) -> AppSource: ...


class Visit:
    """Answers what an app asks, in the order in which it asks. Nothing before a good hello."""

    def __init__(self, socket: Socket, token: str, welcome: Welcome) -> None:
        self.app: AppSource | None = None
        answers: Mapping[str, Answer] = {
            "hello": self._hello,
            "register": self._register,
            "unregister": self._unregister,
        }
        self.peer = Peer(socket, answers)
        self._token = token
        self._welcome = welcome
        self._one_by_one = asyncio.Lock()

    async def leave(self) -> None:
        """The connection has ended."""
        if self.app:
            self.app.disconnect(self.peer)
            await self.app.announce()

    async def _hello(self, params: JsonObject, _: ProgressHandler) -> Json:
        async with self._one_by_one:
            hello = hello_of(params)
            if not hmac.compare_digest(hello.token.encode(), self._token.encode()):
                raise RemoteError(NOT_KNOWN, "the token is not ours; read the address file again")
            if self.app:
                raise RemoteError(NOT_A_REQUEST, "hello is said once")
            self.app = self._welcome(hello, self.peer)
            return {"protocol": PROTOCOL, "launch": list(self.app.launch)}

    async def _register(self, params: JsonObject, _: ProgressHandler) -> Json:
        async with self._one_by_one:
            app, tools = self._known(), _list(params, "tools")
            objects = [tool for tool in tools if is_object(tool)]
            if len(objects) != len(tools):
                raise RemoteError(BAD_PARAMS, "every tool is an object")
            refused = dict(app.register(objects))
            await app.announce()
            return {"registered": _names(app), "refused": refused}

    async def _unregister(self, params: JsonObject, _: ProgressHandler) -> Json:
        async with self._one_by_one:
            app = self._known()
            app.unregister([name for name in _list(params, "names") if isinstance(name, str)])
            await app.announce()
            return {"registered": _names(app)}

    def _known(self) -> AppSource:
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
