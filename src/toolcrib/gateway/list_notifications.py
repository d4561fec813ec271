"""Who is told that a list has changed: of tools, of resources, of prompts.

Connections of the handshake era are sent a notification once they have listed; clients of the
modern era hear of it on the stream of their subscription.
"""

import asyncio
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

from toolcrib.crib import Crib, inventory_of
from toolcrib.gateway import sdk
from toolcrib.gateway.offers import VisibleOffers
from toolcrib.sources.mcp import McpSource

PAUSE_S = 0.05
"""Changes within this time make one notification: a server that starts changes much at once."""

Publish: TypeAlias = Callable[[sdk.ServerEvent], Awaitable[None]]

_OFFER_LISTS = (
    ("notifications/resources/list_changed", sdk.ResourcesListChanged, {"resources", "templates"}),
    ("notifications/prompts/list_changed", sdk.PromptsListChanged, {"prompts"}),
)


@dataclass(slots=True)
class ListSubscriber:
    """Somebody to notify: how to list for them, and the list that they have; None without one."""

    list_now: Callable[[], list[sdk.Result]]
    last: list[sdk.Result] | None = None


class ToolListNotifier:
    """Notifies the clients of one server. `changed` may be called on any thread, the rest may not.

    Only those are notified who have listed, and whose list is another now.
    """

    def __init__(self, modern: Callable[[], list[sdk.Result]]) -> None:
        self._bus = sdk.InMemorySubscriptionBus()
        self._listen = sdk.ListenHandler(self._bus)
        self._modern = ListSubscriber(modern)
        self._connections: dict[sdk.Connection, ListSubscriber] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sending: asyncio.Task[None] | None = None
        self._due = False

    async def listen(
        self, context: sdk.Context, params: sdk.SubscriptionsListenRequestParams
    ) -> sdk.SubscriptionsListenResult:
        """Serve one subscription of the modern era, until the client leaves."""
        self._loop = asyncio.get_running_loop()
        if self._modern.last is None:
            self._modern.last = await asyncio.to_thread(self._modern.list_now)
        return await self._listen(context, params)

    def listed(
        self,
        connection: sdk.Connection,
        tools: list[sdk.Result],
        list_now: Callable[[], list[sdk.Result]],
    ) -> None:
        """A connection of the handshake was sent these tools; `list_now` lists them again."""
        self._loop = asyncio.get_running_loop()
        if connection not in self._connections:
            connection.exit_stack.callback(self._connections.pop, connection, None)
        self._connections[connection] = ListSubscriber(list_now, tools)

    def changed(self) -> None:
        """Something in the catalog has changed, whoever may see it."""
        loop = self._loop
        if loop and not loop.is_closed():
            loop.call_soon_threadsafe(self._soon)

    async def publish(self, event: sdk.ServerEvent) -> None:
        """Send another event to the subscriptions of the modern era."""
        await self._bus.publish(event)

    def close(self) -> None:
        """End all subscriptions."""
        self._listen.close()
        if self._sending:
            self._sending.cancel()

    def _soon(self) -> None:
        self._due = True
        if self._sending is None or self._sending.done():
            self._sending = asyncio.ensure_future(self._send())

    async def _send(self) -> None:
        while self._due:
            await asyncio.sleep(PAUSE_S)
            self._due = False
            for connection, subscriber in list(self._connections.items()):
                if await _has_changed(subscriber):
                    await connection.notify("notifications/tools/list_changed", None)
            if await _has_changed(self._modern):
                await self._bus.publish(sdk.ToolsListChanged())


async def _has_changed(subscriber: ListSubscriber) -> bool:
    """Whether the list is another than the last one; it is the last one from now on."""
    if subscriber.last is None:
        return False
    now = await asyncio.to_thread(subscriber.list_now)
    before, subscriber.last = subscriber.last, now
    return now != before


class OfferListNotifier:
    """Notifies the clients of one principal of resources and prompts that they may see.

    Connections of the handshake are notified once they have listed any; `publish` reaches the
    streams of the modern era.
    """

    def __init__(self, crib: Crib, offers: VisibleOffers, publish: Publish) -> None:
        self._offers = offers
        self._publish = publish
        self._connections: set[sdk.Connection] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sending: set[asyncio.Task[None]] = set()
        self._end = inventory_of(crib).listen_offers(self._changed)

    def subscribe(self, context: sdk.Context) -> None:
        """Notify the client of this request from now on."""
        self._loop = asyncio.get_running_loop()
        connection = sdk.connection_of(context)
        if not sdk.is_modern(context) and connection not in self._connections:
            self._connections.add(connection)
            connection.exit_stack.callback(self._connections.discard, connection)

    def close(self) -> None:
        """Notify nobody any more."""
        self._end()

    def _changed(self, source: McpSource, kinds: AbstractSet[str]) -> None:
        """Called on any thread."""
        loop = self._loop
        if loop and not loop.is_closed():
            loop.call_soon_threadsafe(self._soon, source, kinds)

    def _soon(self, source: McpSource, kinds: AbstractSet[str]) -> None:
        task = asyncio.ensure_future(self._send(source, kinds))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send(self, source: McpSource, kinds: AbstractSet[str]) -> None:
        if not await asyncio.to_thread(self._offers.sees, source):
            return
        for method, event, of in _OFFER_LISTS:
            if kinds & of:
                for connection in tuple(self._connections):
                    await connection.notify(method, None)
                await self._publish(event())
