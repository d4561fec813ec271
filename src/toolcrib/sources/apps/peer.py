"""One end of a JSON-RPC connection: requests, replies, notifications. Both ends use it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from itertools import count
from typing import Protocol, TypeAlias

from toolcrib.model import Json, JsonObject, ProgressHandler
from toolcrib.sources.apps.json_rpc import (
    CANCELLED,
    FAILED,
    OVERLOADED,
    BadMessage,
    RemoteError,
    RpcFailure,
    RpcMessage,
    RpcNotification,
    RpcReply,
    RpcRequest,
    read,
    write,
)

MOST_AT_ONCE = 64

MethodHandler: TypeAlias = Callable[[JsonObject, ProgressHandler], Awaitable[Json]]


class Socket(Protocol):
    """Carries texts. `send` raises `ConnectionError` when the other end is gone."""

    async def send(self, text: str) -> None: ...

    def texts(self) -> AsyncIterator[str | bytes]:
        """The texts that come, until the connection ends, however it ends."""
        ...

    async def close(self, reason: str) -> None: ...


class Peer:
    """Answers requests by `handlers` (method → handler), each in a task of its own.

    Lives on one loop. `run` reads until the connection ends. Whoever still waits for a reply then
    gets a `ConnectionError`.
    """

    def __init__(self, socket: Socket, handlers: Mapping[str, MethodHandler]) -> None:
        self._socket = socket
        self._handlers = handlers
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._on_progress: dict[int, ProgressHandler] = {}
        self._answering: dict[int, asyncio.Task[None]] = {}
        self._sending: set[asyncio.Task[None]] = set()
        self._over = False

    async def run(self) -> None:
        """Read until the connection ends. A message that cannot be read ends it too."""
        try:
            async for text in self._socket.texts():
                try:
                    self._take(read(text))
                except BadMessage as error:
                    self._post(RpcFailure(None, error.code, str(error)))
                    await asyncio.sleep(0)
                    break
        finally:
            await self._end()

    async def ask(
        self, method: str, params: JsonObject, progress: ProgressHandler | None = None
    ) -> Json:
        """The result of a request. Raises `RemoteError`, `ConnectionError`, `BadMessage`.

        Cancelling it sends a cancel to the other end. `NothingSent` is the `ConnectionError` where
        nothing was sent.
        """
        id = next(self._ids)
        text = write(RpcRequest(id, method, params))
        if self._over:
            raise NothingSent("the connection has ended")
        self._waiting[id] = asyncio.get_running_loop().create_future()
        if progress:
            self._on_progress[id] = progress
        try:
            await self._socket.send(text)
            return await self._waiting[id]
        except asyncio.CancelledError:
            self._post(RpcNotification("cancel", {"id": id}))
            raise
        finally:
            del self._waiting[id]
            self._on_progress.pop(id, None)

    async def close(self, reason: str) -> None:
        """End the connection."""
        await self._socket.close(reason)

    @property
    def busy(self) -> bool:
        """Whether a request of ours has no reply yet."""
        return bool(self._waiting)

    def _take(self, message: RpcMessage) -> None:
        match message:
            case RpcRequest():
                self._begin(message)
            case RpcNotification():
                self._notify(message)
            case RpcReply(id, result):
                if (waiting := self._waiting.get(id)) and not waiting.done():
                    waiting.set_result(result)
            case RpcFailure(id, code, text, data):
                waiting = self._waiting.get(id) if id is not None else None
                if waiting and not waiting.done():
                    waiting.set_exception(RemoteError(code, text, data))

    def _notify(self, notification: RpcNotification) -> None:
        """Cancel or progress of a request that is under way. Anything else is ignored."""
        match notification.method, notification.params:
            case "cancel", {"id": int(id)} if id in self._answering:
                self._answering[id].cancel()
            case "progress", {"id": int(id), "done": int() | float() as done, **rest}:
                total, message = rest.get("total"), rest.get("message", "")
                if id in self._on_progress and isinstance(message, str):
                    has_total = isinstance(total, int | float)
                    self._on_progress[id](float(done), float(total) if has_total else None, message)
            case _:
                pass

    def _begin(self, request: RpcRequest) -> None:
        if request.id in self._answering:
            raise BadMessage(-32600, f"the request {request.id} is under way")
        if len(self._answering) >= MOST_AT_ONCE:
            self._post(RpcFailure(request.id, OVERLOADED, "too many at once; try again later"))
            return
        task = asyncio.ensure_future(self._answer(request))
        self._answering[request.id] = task
        task.add_done_callback(lambda _: self._answering.pop(request.id, None))

    async def _answer(self, request: RpcRequest) -> None:
        def progress(done: float, total: float | None, message: str) -> None:
            params: JsonObject = {"done": done, "total": total, "message": message}
            self._post(RpcNotification("progress", {"id": request.id, **params}))

        try:
            handler = self._handlers.get(request.method)
            if handler is None:
                raise RemoteError(-32601, f"there is no method {request.method!r} here")  # noqa: TRY301 - answered like the rest
            reply = RpcReply(request.id, await handler(request.params, progress))
            write(reply)
        except RemoteError as error:
            reply = RpcFailure(request.id, error.code, error.message, error.data)
        except BadMessage as error:
            reply = RpcFailure(request.id, FAILED, f"done, but the result cannot be sent: {error}")
        except asyncio.CancelledError:
            reply = RpcFailure(request.id, CANCELLED, "cancelled")
        self._post(reply)

    def _post(self, message: RpcMessage) -> None:
        """Send without waiting. Nothing is sent once the connection has ended."""
        if not self._over:
            task = asyncio.ensure_future(self._send(write(message)))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _send(self, text: str) -> None:
        try:
            await self._socket.send(text)
        except ConnectionError:
            return

    async def _end(self) -> None:
        self._over = True
        for task in tuple(self._answering.values()):
            task.cancel()
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(ConnectionError("the connection ended before the answer"))
        if self._sending:
            await asyncio.wait(self._sending, timeout=1)
        await self._socket.close("done")


class NothingSent(ConnectionError):
    """There was no connection to send it on."""
