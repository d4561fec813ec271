"""Between the transport and the SDK: sees every message first, and removes the server's secrets.

The SDK refuses a whole list for one malformed item and drops fields that it does not know. So lists
are taken here as they come, and the SDK gets a list that it cannot refuse. Notifications that we
handle ourselves, or that come too often, go no further. On the way out, a request may declare fewer
client capabilities than we have.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import replace
from typing import Any, Final, TypeGuard, cast

from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp import sdk
from toolcrib.text import Redactor

# What a server is told that it may ask, request by request.

_WITHHELD: Final = "toolcrib/withheld"


def without_capabilities(capabilities: Collection[str]) -> JsonObject:
    """What goes into the `_meta` of a request that is to be sent without these capabilities."""
    listed: list[Json] = [*sorted(capabilities)]
    return {_WITHHELD: listed} if listed else {}


class CapabilityWriter(sdk.AsyncResource):
    """Sends what the SDK sends, after it has said on each request what we can be asked."""

    def __init__(self, write: sdk.WriteStream[sdk.SessionMessage]) -> None:
        self._write = write

    async def send(self, item: sdk.SessionMessage, /) -> None:
        await self._write.send(_narrowed(item))

    async def aclose(self) -> None:
        await self._write.aclose()


def _narrowed(item: sdk.SessionMessage) -> sdk.SessionMessage:
    message = item.message
    if not isinstance(message, sdk.JSONRPCRequest):
        return item
    meta: dict[str, Any] = dict((message.params or {}).get("_meta") or {})
    withheld = meta.pop(_WITHHELD, None)
    if withheld is None:
        return item
    able: Mapping[str, Any] = meta.get(sdk.CLIENT_CAPABILITIES_META_KEY) or {}
    meta[sdk.CLIENT_CAPABILITIES_META_KEY] = {
        name: value for name, value in able.items() if name not in withheld
    }
    params = {**(message.params or {}), "_meta": meta}
    return replace(item, message=message.model_copy(update={"params": params}))


MOST_TOOLS = 5_000
PROGRESS_EVERY_S = 0.05
PROGRESS_AT_ONCE = 5
MOST_LOG_MESSAGES = 100  # of the log, each second
_LISTS = ("tools", "resources", "resourceTemplates", "prompts")
_CHANGED = frozenset(
    f"notifications/{what}/list_changed" for what in ("tools", "resources", "prompts")
)
_PROGRESS = "notifications/progress"
_LOG_MESSAGE = "notifications/message"
_UPDATED = "notifications/resources/updated"
_MADE_UP = "SSE stream "

OnLog = Callable[[JsonObject, Context], None]


def _ignore_log(_message: JsonObject, _context: Context) -> None:
    pass


class Tap:
    """Over one connection. `ended` is set when no more will come.

    `changed` hears that a list is another; `said` what the server says meanwhile, and the context
    of the request whose stream it came on, where there is one; `updated` which resource is another.
    """

    def __init__(
        self,
        changed: Callable[[], None],
        said: OnLog = _ignore_log,
        updated: Callable[[str], None] = lambda _uri: None,
        redactor: Redactor | None = None,
    ) -> None:
        self._redactor = redactor or Redactor()
        self._changed = changed
        self._said = said
        self._updated = updated
        self._pages: dict[str, tuple[JsonObject, ...]] = {}
        self._due: dict[object, float] = {}
        self._second = self._words = 0
        self.ended = asyncio.Event()

    def take_page(self, key: str) -> tuple[JsonObject, ...]:
        """The raw items of the last page of such that came, once."""
        return self._pages.pop(key, ())

    @asynccontextmanager
    async def over(
        self, transport: AbstractAsyncContextManager[sdk.TransportStreams]
    ) -> AsyncGenerator[sdk.TransportStreams]:
        """The transport with us in between."""
        async with transport as (read, write), sdk.create_task_group() as group:
            send, receive = sdk.create_memory_object_stream[tuple[Context, sdk.Item]](0)

            async def pump() -> None:
                with suppress(sdk.BrokenResourceError, sdk.ClosedResourceError):
                    async for item in read:
                        context = getattr(read, "last_context", None) or copy_context()
                        clean = attributed(redacted(item, self._redactor))
                        if self._passes(clean, context):
                            await send.send((context, clean))
                send.close()
                self.ended.set()

            group.start_soon(pump)
            try:
                yield sdk.ContextReceiveStream(receive), CapabilityWriter(write)
            finally:
                group.cancel_scope.cancel()
                send.close()
                receive.close()

    def _passes(self, item: sdk.Item, context: Context | None = None) -> bool:
        """Whether the SDK gets to see it; a list is made harmless on the way."""
        message = item.message if isinstance(item, sdk.SessionMessage) else None
        if isinstance(message, sdk.JSONRPCResponse):
            self._look_at(message.result)
        if not isinstance(message, sdk.JSONRPCNotification):
            return message is not None
        if message.method in _CHANGED:
            self._changed()
            return False
        if message.method == _PROGRESS:
            return self._is_due((message.params or {}).get("progressToken"))
        if message.method == _LOG_MESSAGE:
            self._hear(message.params or {}, context or copy_context())
            return False
        if message.method == _UPDATED:
            self._updated(str((message.params or {}).get("uri")))
        return True

    def _is_due(self, token: object) -> bool:
        """Whether it is time to hear again of the progress of a call.

        A few may come at once: what was sent at a good pace may have waited on its way.
        """
        now = time.monotonic()
        if not isinstance(token, str | int):
            return False
        due = max(self._due.get(token, 0), now - PROGRESS_AT_ONCE * PROGRESS_EVERY_S)
        if due > now:
            return False
        if len(self._due) > MOST_TOOLS:
            self._due.clear()
        self._due[token] = due + PROGRESS_EVERY_S
        return True

    def _hear(self, message: JsonObject, context: Context) -> None:
        """Hand on what is said; of a server that talks without end, so much each second."""
        second = int(time.monotonic())
        self._words = self._words + 1 if second == self._second else 1
        self._second = second
        if self._words <= MOST_LOG_MESSAGES:
            self._said(message, context)

    def _look_at(self, result: dict[str, Any]) -> None:
        for key in _LISTS:
            if isinstance(result.get(key), list):
                listed = cast("list[Any]", result[key])
                page = self._pages[key] = tuple(filter(_is_object, listed[: MOST_TOOLS + 1]))
                modern = "resultType" in result
                result[key] = _harmless_tools(page, modern) if key == "tools" else []
                if not isinstance(result.get("nextCursor"), str):
                    result.pop("nextCursor", None)


def attributed(item: sdk.Item) -> sdk.Item:
    """The item; of a server's own error, one that cannot be taken for the end of the connection.

    The SDK has the same code for both. The one that it makes up itself does not come this way, but
    over HTTP: there it speaks of the stream.
    """
    said = item.message if isinstance(item, sdk.SessionMessage) else None
    if not isinstance(item, sdk.SessionMessage) or not isinstance(said, sdk.JSONRPCError):
        return item
    if said.error.code != sdk.CONNECTION_CLOSED or said.error.message.startswith(_MADE_UP):
        return item
    own = said.error.model_copy(update={"code": sdk.SERVERS_OWN_CLOSED})
    return replace(item, message=said.model_copy(update={"error": own}))


def redacted(item: sdk.Item, redactor: Redactor) -> sdk.Item:
    """The item without the secrets of its server."""
    if not isinstance(item, sdk.SessionMessage):
        return item
    said = item.message
    if isinstance(said, sdk.JSONRPCError):
        error = said.error.model_dump(**sdk.AS_SENT)
        kept = {"error": sdk.ErrorData.model_validate(redactor.json(error))}
    elif isinstance(said, sdk.JSONRPCResponse):
        kept = {"result": redactor.json(said.result)}
    else:
        kept = {"params": redactor.json(said.params)}
    return replace(item, message=said.model_copy(update=kept))


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


def _harmless_tools(page: tuple[JsonObject, ...], modern: bool) -> list[JsonObject]:  # noqa: FBT001 - two eras
    return [_harmless(tool, modern) for tool in page if isinstance(tool.get("name"), str)]


def _harmless(tool: JsonObject, modern: bool) -> JsonObject:  # noqa: FBT001 - two eras
    """What the SDK needs: the name, and in the modern era the schema, for headers it names."""
    schema = tool.get("inputSchema") if modern else None
    usable = isinstance(schema, Mapping) and schema.get("type") == "object"
    return {"name": tool.get("name"), "inputSchema": schema if usable else {"type": "object"}}
