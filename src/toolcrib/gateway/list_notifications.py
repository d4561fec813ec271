"""Who is told that a list has changed: of tools, of resources, of prompts.

Connections of the handshake era are sent a notification once they have listed; clients of the
modern era hear of it on the stream of their subscription.
"""

import asyncio
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

from toolcrib.access import allows_source
from toolcrib.crib import Crib
from toolcrib.gateway import sdk
from toolcrib.gateway.offers import visible_servers
from toolcrib.gateway.principal import Principal
from toolcrib.sources.mcp import McpSource

PAUSE_S = 0.05
"""What changes within this time is told once: a server that starts changes much at once."""


@dataclass(slots=True)
class ListSubscriber:
    """Somebody who may be told: how to list for them, and what they know; None if nothing."""

    list_again: Callable[[], list[sdk.Result]]
    known: list[sdk.Result] | None = None


class ToolListNotifier:
    """Tells the clients of one window. `changed` may be called on any thread, the rest may not.

    Only those are told who have listed, and whose list is another now.
    """

    def __init__(self, modern: Callable[[], list[sdk.Result]]) -> None:
        self._bus = sdk.InMemorySubscriptionBus()
        self._listen = sdk.ListenHandler(self._bus)
        self._modern = ListSubscriber(modern)
        self._fronts: dict[sdk.Connection, ListSubscriber] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._telling: asyncio.Task[None] | None = None
        self._due = False

    async def listen(
        self, context: sdk.Context, params: sdk.SubscriptionsListenRequestParams
    ) -> sdk.SubscriptionsListenResult:
        """Serve one subscription of the modern era, until the client leaves."""
        self._loop = asyncio.get_running_loop()
        if self._modern.known is None:
            self._modern.known = await asyncio.to_thread(self._modern.list_again)
        return await self._listen(context, params)

    def heard(
        self,
        connection: sdk.Connection,
        given: list[sdk.Result],
        front: Callable[[], list[sdk.Result]],
    ) -> None:
        """A connection of the handshake was given this list, and gets such lists by `front`."""
        self._loop = asyncio.get_running_loop()
        if connection not in self._fronts:
            connection.exit_stack.callback(self._fronts.pop, connection, None)
        self._fronts[connection] = ListSubscriber(front, given)

    def changed(self) -> None:
        """Something in the catalog is another, whoever may see it."""
        loop = self._loop
        if loop and not loop.is_closed():
            loop.call_soon_threadsafe(self._soon)

    async def publish(self, event: sdk.ServerEvent) -> None:
        """Tell the subscriptions of the modern era of something else."""
        await self._bus.publish(event)

    def close(self) -> None:
        """End all subscriptions."""
        self._listen.close()
        if self._telling:
            self._telling.cancel()

    def _soon(self) -> None:
        self._due = True
        if self._telling is None or self._telling.done():
            self._telling = asyncio.ensure_future(self._tell())

    async def _tell(self) -> None:
        while self._due:
            await asyncio.sleep(PAUSE_S)
            self._due = False
            for connection, front in list(self._fronts.items()):
                if await _has_changed(front):
                    await connection.notify("notifications/tools/list_changed", None)
            if await _has_changed(self._modern):
                await self._bus.publish(sdk.ToolsListChanged())


async def _has_changed(front: ListSubscriber) -> bool:
    """Whether the list is not the one that is known; it is known then."""
    if front.known is None:
        return False
    now = await asyncio.to_thread(front.list_again)
    before, front.known = front.known, now
    return now != before


# Who is told that the list of resources or of prompts is another.

Publish: TypeAlias = Callable[[sdk.ServerEvent], Awaitable[None]]

_KINDS = (
    ("notifications/resources/list_changed", sdk.ResourcesListChanged, {"resources", "templates"}),
    ("notifications/prompts/list_changed", sdk.PromptsListChanged, {"prompts"}),
)


class OfferListNotifier:
    """For one principal, and of servers that the principal may see.

    Connections of the handshake are told once they have listed any; `publish` tells the streams of
    the modern era.
    """

    def __init__(self, crib: Crib, principal: Principal, publish: Publish) -> None:
        self._crib = crib
        self._principal = principal
        self._publish = publish
        self._fronts: set[sdk.Connection] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._telling: set[asyncio.Task[None]] = set()
        self._end = crib.listen_offers(self._changed)

    def heed(self, context: sdk.Context) -> None:
        """Somebody wants to hear of it: whoever this request is from."""
        self._loop = asyncio.get_running_loop()
        connection = sdk.connection_of(context)
        if not sdk.is_modern(context) and connection not in self._fronts:
            self._fronts.add(connection)
            connection.exit_stack.callback(self._fronts.discard, connection)

    def close(self) -> None:
        """Tell nobody any more."""
        self._end()

    def _changed(self, source: McpSource, kinds: AbstractSet[str]) -> None:
        """Called on any thread."""
        loop = self._loop
        if loop and not loop.is_closed():
            loop.call_soon_threadsafe(self._soon, source, kinds)

    def _soon(self, source: McpSource, kinds: AbstractSet[str]) -> None:
        task = asyncio.ensure_future(self._tell(source, kinds))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    def _sees(self, source: McpSource) -> bool:
        """Whether the principal may know of this server: of one that is gone, by its name alone."""
        if source in self._crib.servers.values():
            return source in visible_servers(self._crib, self._principal)
        return allows_source(source.id or "", self._principal.profile.scope)

    async def _tell(self, source: McpSource, kinds: AbstractSet[str]) -> None:
        if not await asyncio.to_thread(self._sees, source):
            return
        for method, event, of in _KINDS:
            if kinds & of:
                for connection in tuple(self._fronts):
                    await connection.notify(method, None)
                await self._publish(event())
