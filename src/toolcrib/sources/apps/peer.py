"""One end of a connection: it asks, answers and tells. Both ends are made of it."""

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

Answer: TypeAlias = Callable[[JsonObject, ProgressHandler], Awaitable[Json]]


class Socket(Protocol):
    """What carries the texts. `send` raises `ConnectionError` when the other end is gone."""

    async def send(self, text: str) -> None: ...

    def texts(self) -> AsyncIterator[str | bytes]:
        """What comes, until the connection ends, however it ends."""
        ...

    async def close(self, reason: str) -> None: ...


class Peer:
    """Answers requests by `answers` (method → what answers it), each in a task of its own.

    Lives on one loop. `run` reads until the connection ends; whoever still waits for an answer then
    gets a `ConnectionError`.
    """

    def __init__(self, socket: Socket, answers: Mapping[str, Answer]) -> None:
        self._socket = socket
        self._answers = answers
        self._ids = count(1)
        self._asked: dict[int, asyncio.Future[Json]] = {}
        self._heard: dict[int, ProgressHandler] = {}
        self._answering: dict[int, asyncio.Task[None]] = {}
        self._sending: set[asyncio.Task[None]] = set()
        self._over = False

    async def run(self) -> None:
        """Read until the connection ends. A message that is none ends it too."""
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

        Cancelling it tells the other end that nobody waits any more. A `ConnectionError` of an
        `NothingSent` kind means that nothing was sent.
        """
        id = next(self._ids)
        text = write(RpcRequest(id, method, params))
        if self._over:
            raise NothingSent("the connection has ended")
        self._asked[id] = asyncio.get_running_loop().create_future()
        if progress:
            self._heard[id] = progress
        try:
            await self._socket.send(text)
            return await self._asked[id]
        except asyncio.CancelledError:
            self._post(RpcNotification("cancel", {"id": id}))
            raise
        finally:
            del self._asked[id]
            self._heard.pop(id, None)

    async def close(self, reason: str) -> None:
        """End the connection."""
        await self._socket.close(reason)

    @property
    def busy(self) -> bool:
        """Whether somebody waits for an answer from the other end."""
        return bool(self._asked)

    def _take(self, message: RpcMessage) -> None:
        match message:
            case RpcRequest():
                self._begin(message)
            case RpcNotification():
                self._hear(message)
            case RpcReply(id, result):
                if (waiting := self._asked.get(id)) and not waiting.done():
                    waiting.set_result(result)
            case RpcFailure(id, code, text, data):
                waiting = self._asked.get(id) if id is not None else None
                if waiting and not waiting.done():
                    waiting.set_exception(RemoteError(code, text, data))

    def _hear(self, notice: RpcNotification) -> None:
        """What is told, of a request that is under way; anything else is nobody's business."""
        match notice.method, notice.params:
            case "cancel", {"id": int(id)} if id in self._answering:
                self._answering[id].cancel()
            case "progress", {"id": int(id), "done": int() | float() as done, **rest}:
                total, message = rest.get("total"), rest.get("message", "")
                if id in self._heard and isinstance(message, str):
                    known = isinstance(total, int | float)
                    self._heard[id](float(done), float(total) if known else None, message)
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
        def tell(done: float, total: float | None, message: str) -> None:
            told: JsonObject = {"id": request.id, "done": done, "total": total, "message": message}
            self._post(RpcNotification("progress", told))

        try:
            answer = self._answers.get(request.method)
            if answer is None:
                raise RemoteError(-32601, f"there is no method {request.method!r} here")  # noqa: TRY301 - answered like the rest
            reply = RpcReply(request.id, await answer(request.params, tell))
            write(reply)
        except RemoteError as error:
            reply = RpcFailure(request.id, error.code, error.message, error.data)
        except BadMessage as error:
            reply = RpcFailure(request.id, FAILED, f"done, but the result cannot be sent: {error}")
        except asyncio.CancelledError:
            reply = RpcFailure(request.id, CANCELLED, "cancelled")
        self._post(reply)

    def _post(self, message: RpcMessage) -> None:
        """Send without waiting. What is gone by then hears nothing."""
        if not self._over:
            task = asyncio.ensure_future(self._sent(write(message)))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _sent(self, text: str) -> None:
        try:
            await self._socket.send(text)
        except ConnectionError:
            return

    async def _end(self) -> None:
        self._over = True
        for task in tuple(self._answering.values()):
            task.cancel()
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("the connection ended before the answer"))
        if self._sending:
            await asyncio.wait(self._sending, timeout=1)
        await self._socket.close("done")


class NothingSent(ConnectionError):
    """There was no connection to send it on."""
