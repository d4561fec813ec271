"""Between the transport and the SDK: sees every message first, and removes the server's secrets.

The SDK refuses a whole list for one malformed item and drops fields that it does not know. So lists
are taken here as they come, and the SDK gets a list that it cannot refuse. Notifications that we
handle ourselves, or that come too often, go no further. On the way out, a request may declare fewer
client capabilities than we have.
"""

import asyncio
import time
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import replace
from functools import partial
from typing import Any, Final, Self, TypeGuard, cast

from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.jsonrpc import plain_reply
from toolcrib.sources.mcp.transport.pipe_requests import LineSource, LineWriter, PipeRequests
from toolcrib.text import Redactor

MOST_PROGRESSING = 5_000
PROGRESS_EVERY_S = 0.05
PROGRESS_AT_ONCE = 5
MOST_LOG_MESSAGES = 100  # each second
_LISTS = ("tools", "resources", "resourceTemplates", "prompts")
_CHANGED = frozenset(
    f"notifications/{what}/list_changed" for what in ("tools", "resources", "prompts")
)
_PROGRESS = "notifications/progress"
_LOG_MESSAGE = "notifications/message"
_UPDATED = "notifications/resources/updated"
_MADE_UP = "SSE stream "
_WITHHELD: Final = "toolcrib/withheld"

OnLog = Callable[[JsonObject, Context], None]


def _ignore_log(_message: JsonObject, _context: Context) -> None:
    pass


class Tap:
    """Of one connection. `ended` is set when no more will come.

    `on_list_changed` is called for each `list_changed`, `on_updated` with the URI of each
    `resources/updated`. `on_log` gets each log message, and the context of the request on whose
    stream it came. `pipe` are the calls to a process, from when the connection is opened.
    """

    def __init__(
        self,
        on_list_changed: Callable[[], None],
        on_log: OnLog = _ignore_log,
        on_updated: Callable[[str], None] = lambda _uri: None,
        redactor: Redactor | None = None,
    ) -> None:
        self._redactor = redactor or Redactor()
        self._on_list_changed = on_list_changed
        self._on_log = on_log
        self._on_updated = on_updated
        self._pages: dict[str, tuple[JsonObject, ...]] = {}
        self._due: dict[object, float] = {}
        self._second = self._logged = 0
        self.pipe: PipeRequests | None = None
        self.ended = asyncio.Event()

    def take_page(self, key: str) -> tuple[JsonObject, ...]:
        """The raw items of the last page that came under this key. Each page is taken once."""
        return self._pages.pop(key, ())

    @asynccontextmanager
    async def over(
        self, transport: AbstractAsyncContextManager[sdk.TransportStreams]
    ) -> AsyncGenerator[sdk.TransportStreams]:
        """The transport with the tap in between."""
        async with transport as (read, write):
            self.pipe = PipeRequests(write) if isinstance(write, LineWriter) else None
            if self.pipe and isinstance(read, LineSource):
                read.take_lines(partial(self._take_line, self.pipe))
            try:
                yield TapReader(read, self.take, self.end), CapabilityWriter(write)
            finally:
                self.end()

    def end(self) -> None:
        """No more will come."""
        self.ended.set()
        if self.pipe:
            self.pipe.end()

    def take(self, item: sdk.Item, context: Context | None) -> sdk.Item | None:
        """The item as the SDK gets to see it; None where it does not."""
        clean = with_own_code(redacted(item, self._redactor))
        if not self._passes(clean, context) or not isinstance(clean, sdk.SessionMessage):
            return None
        return None if self.pipe and self.pipe.take(clean.message) else clean

    def _take_line(self, pipe: PipeRequests, line: bytes) -> bool:
        """Whether a line was the reply to a call; then nobody has to wake to read it."""
        reply = plain_reply(line) if pipe.is_waiting else None
        if reply is None or not reply.result.keys().isdisjoint(_LISTS):
            return False
        clean = cast("dict[str, Any]", self._redactor.json(reply.result))
        return pipe.take_reply(reply._replace(result=clean))

    def _passes(self, item: sdk.Item, context: Context | None = None) -> bool:
        """Whether the SDK gets to see it. A list is replaced by one that it cannot refuse."""
        message = item.message if isinstance(item, sdk.SessionMessage) else None
        if isinstance(message, sdk.JSONRPCResponse):
            self._take_lists(message.result)
        if not isinstance(message, sdk.JSONRPCNotification):
            return message is not None
        if message.method in _CHANGED:
            self._on_list_changed()
            return False
        if message.method == _PROGRESS:
            return self._is_due((message.params or {}).get("progressToken"))
        if message.method == _LOG_MESSAGE:
            self._log(message.params or {}, context or copy_context())
            return False
        if message.method == _UPDATED:
            self._on_updated(str((message.params or {}).get("uri")))
        return True

    def _is_due(self, token: object) -> bool:
        """Whether a progress notification may pass: of each call so many a second.

        A few may come at once: they may have waited on their way.
        """
        now = time.monotonic()
        if not isinstance(token, str | int):
            return False
        due = max(self._due.get(token, 0), now - PROGRESS_AT_ONCE * PROGRESS_EVERY_S)
        if due > now:
            return False
        if len(self._due) > MOST_PROGRESSING:
            self._due.clear()
        self._due[token] = due + PROGRESS_EVERY_S
        return True

    def _log(self, message: JsonObject, context: Context) -> None:
        """Hand on a log message: so many each second."""
        second = int(time.monotonic())
        self._logged = self._logged + 1 if second == self._second else 1
        self._second = second
        if self._logged <= MOST_LOG_MESSAGES:
            self._on_log(message, context)

    def _take_lists(self, result: dict[str, Any]) -> None:
        for key in _LISTS:
            if isinstance(result.get(key), list):
                listed = cast("list[Any]", result[key])
                page = self._pages[key] = tuple(filter(_is_object, listed))
                modern = "resultType" in result
                result[key] = _minimal_tools(page, modern) if key == "tools" else []
                if not isinstance(result.get("nextCursor"), str):
                    result.pop("nextCursor", None)


def with_own_code(item: sdk.Item) -> sdk.Item:
    """The item; a server's own error gets a code that does not mean the end of the connection.

    The SDK uses one code for both. An error that the SDK makes up itself comes this way over HTTP
    alone: then it speaks of the stream.
    """
    message = item.message if isinstance(item, sdk.SessionMessage) else None
    if not isinstance(item, sdk.SessionMessage) or not isinstance(message, sdk.JSONRPCError):
        return item
    error = message.error
    if error.code != sdk.CONNECTION_CLOSED or error.message.startswith(_MADE_UP):
        return item
    own = error.model_copy(update={"code": sdk.SERVERS_OWN_CLOSED})
    return replace(item, message=message.model_copy(update={"error": own}))


def redacted(item: sdk.Item, redactor: Redactor) -> sdk.Item:
    """The item without the secrets of its server."""
    if not isinstance(item, sdk.SessionMessage):
        return item
    message = item.message
    if isinstance(message, sdk.JSONRPCError):
        error = message.error.model_dump(**sdk.AS_SENT)
        update = {"error": sdk.ErrorData.model_validate(redactor.json(error))}
    elif isinstance(message, sdk.JSONRPCResponse):
        clean = redactor.json(message.result)
        if clean is message.result:
            return item
        update = {"result": clean}
    else:
        update = {"params": redactor.json(message.params)}
    return replace(item, message=message.model_copy(update=update))


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


def _minimal_tools(page: tuple[JsonObject, ...], modern: bool) -> list[JsonObject]:  # noqa: FBT001 - two eras
    return [_minimal_tool(tool, modern) for tool in page if isinstance(tool.get("name"), str)]


def _minimal_tool(tool: JsonObject, modern: bool) -> JsonObject:  # noqa: FBT001 - two eras
    """What the SDK needs: the name, and in the modern era the schema, for headers it names."""
    schema = tool.get("inputSchema") if modern else None
    usable = isinstance(schema, Mapping) and schema.get("type") == "object"
    return {"name": tool.get("name"), "inputSchema": schema if usable else {"type": "object"}}


def without_capabilities(capabilities: Collection[str]) -> JsonObject:
    """What to put into the `_meta` of a request that is not to declare these capabilities.

    A server of 2026-07-28 learns from each request what its client can be asked, and no reply says
    no. So a server that wants what nobody can give is asked again without that capability.
    """
    withheld: list[Json] = [*sorted(capabilities)]
    return {_WITHHELD: withheld} if withheld else {}


class ItemReader(sdk.AsyncResource):
    """A stream that the SDK reads item by item, from whoever says what the next one is."""

    def __aiter__(self) -> Self:
        return self

    @abstractmethod
    async def __anext__(self) -> sdk.Item: ...

    async def receive(self) -> sdk.Item:
        """The next item; raises what the SDK takes for the end of a stream."""
        async for item in self:
            return item
        raise sdk.ClosedResourceError


class TapReader(ItemReader):
    """Reads what the transport gives, whenever the SDK asks for the next: no task between them.

    `last_context` is that of the request on whose stream the last item came, if one is known.
    """

    def __init__(
        self,
        read: sdk.ReadStream[sdk.Item],
        take: Callable[[sdk.Item, Context | None], sdk.Item | None],
        end: Callable[[], None],
    ) -> None:
        self._read, self._take, self._end = read, take, end
        self.last_context: Context | None = None

    async def __anext__(self) -> sdk.Item:
        with suppress(sdk.BrokenResourceError, sdk.ClosedResourceError):
            async for item in self._read:
                self.last_context = getattr(self._read, "last_context", None)
                taken = self._take(item, self.last_context)
                if taken is not None:
                    return taken
        self._end()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        await self._read.aclose()


class CapabilityWriter(sdk.AsyncResource):
    """Sends what the SDK sends, without the client capabilities that a request withholds."""

    def __init__(self, write: sdk.WriteStream[sdk.SessionMessage]) -> None:
        self._write = write

    async def send(self, item: sdk.SessionMessage, /) -> None:
        await self._write.send(_without_withheld(item))

    async def aclose(self) -> None:
        await self._write.aclose()


def _without_withheld(item: sdk.SessionMessage) -> sdk.SessionMessage:
    message = item.message
    if not isinstance(message, sdk.JSONRPCRequest):
        return item
    params = message.params or {}
    declared = withhold(params)
    if declared is params:
        return item
    return replace(item, message=message.model_copy(update={"params": declared}))


def withhold(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """The params without the client capabilities that they withhold; the same if there are none."""
    meta: dict[str, Any] = dict(params.get("_meta") or {})
    withheld = meta.pop(_WITHHELD, None)
    if withheld is None:
        return params
    capabilities: Mapping[str, Any] = meta.get(sdk.CLIENT_CAPABILITIES_META_KEY) or {}
    meta[sdk.CLIENT_CAPABILITIES_META_KEY] = {
        name: value for name, value in capabilities.items() if name not in withheld
    }
    return {**params, "_meta": meta}
