"""Sees every message from a server before the SDK does.

The SDK refuses a whole list for one malformed tool and drops fields that it does not know. So raw
tools are taken here as they come, and the SDK gets a list that it cannot refuse. Notices that we
answer ourselves, or that come too often, go no further.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, TypeGuard, cast

from toolcrib.model import JsonObject
from toolcrib.sources.mcp import sdk

MOST_TOOLS = 5_000
PROGRESS_EVERY_S = 0.05
_CHANGED = "notifications/tools/list_changed"
_PROGRESS = "notifications/progress"
_UNHEARD = frozenset({"notifications/message", _CHANGED})


class Tap:
    """Over one connection. `ended` is set when no more will come."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._page: Sequence[JsonObject] = ()
        self._told: dict[object, float] = {}
        self.ended = asyncio.Event()

    def take_page(self) -> Sequence[JsonObject]:
        """The raw tools of the last page that came, once."""
        page, self._page = self._page, ()
        return page

    @asynccontextmanager
    async def over(
        self, transport: AbstractAsyncContextManager[sdk.TransportStreams]
    ) -> AsyncGenerator[sdk.TransportStreams]:
        """The transport with us in between."""
        async with transport as (read, write), sdk.create_task_group() as group:
            send, receive = sdk.create_memory_object_stream[sdk.Item](0)

            async def pump() -> None:
                with suppress(sdk.BrokenResourceError, sdk.ClosedResourceError):
                    async for item in read:
                        if self._passes(item):
                            await send.send(item)
                send.close()
                self.ended.set()

            group.start_soon(pump)
            try:
                yield receive, write
            finally:
                group.cancel_scope.cancel()
                send.close()
                receive.close()

    def _passes(self, item: sdk.Item) -> bool:
        """Whether the SDK gets to see it; a list of tools is made harmless on the way."""
        message = item.message if isinstance(item, sdk.SessionMessage) else None
        if isinstance(message, sdk.JSONRPCResponse):
            self._look_at(message.result)
        if not isinstance(message, sdk.JSONRPCNotification):
            return message is not None
        if message.method == _CHANGED:
            self._changed()
        if message.method == _PROGRESS:
            return self._is_due((message.params or {}).get("progressToken"))
        return message.method not in _UNHEARD

    def _is_due(self, token: object) -> bool:
        """Whether it is time to hear again of the progress of a call."""
        now = time.monotonic()
        if not isinstance(token, str | int) or now - self._told.get(token, 0) < PROGRESS_EVERY_S:
            return False
        if len(self._told) > MOST_TOOLS:
            self._told.clear()
        self._told[token] = now
        return True

    def _look_at(self, result: dict[str, Any]) -> None:
        if isinstance(result.get("tools"), list):
            tools = cast("list[Any]", result["tools"])
            self._page = tuple(filter(_is_object, tools[: MOST_TOOLS + 1]))
            modern = "resultType" in result
            result["tools"] = [_harmless(tool, modern) for tool in self._page if _has_name(tool)]
            if not isinstance(result.get("nextCursor"), str):
                result.pop("nextCursor", None)


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


def _has_name(tool: JsonObject) -> bool:
    return isinstance(tool.get("name"), str)


def _harmless(tool: JsonObject, modern: bool) -> JsonObject:  # noqa: FBT001 - two eras
    """What the SDK needs: the name, and in the modern era the schema, for headers it names."""
    schema = tool.get("inputSchema") if modern else None
    usable = isinstance(schema, Mapping) and schema.get("type") == "object"
    return {"name": tool.get("name"), "inputSchema": schema if usable else {"type": "object"}}
