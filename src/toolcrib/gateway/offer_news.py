"""Who is told that the list of resources or of prompts is another."""

import asyncio
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from toolcrib.crib import Crib
from toolcrib.gateway import sdk
from toolcrib.gateway.beside import seen_servers
from toolcrib.gateway.guest import Guest
from toolcrib.search.filters import lets_through
from toolcrib.sources.mcp.source import McpSource

Publish: TypeAlias = Callable[[sdk.ServerEvent], Awaitable[None]]

_KINDS = (
    ("notifications/resources/list_changed", sdk.ResourcesListChanged, {"resources", "templates"}),
    ("notifications/prompts/list_changed", sdk.PromptsListChanged, {"prompts"}),
)


class OfferNews:
    """For one guest, and of servers that the guest may see.

    Connections of the handshake are told once they have listed any; `publish` tells the streams of
    the modern era.
    """

    def __init__(self, crib: Crib, guest: Guest, publish: Publish) -> None:
        self._crib = crib
        self._guest = guest
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
        """Whether the guest may know of this server: of one that is gone, by its name alone."""
        if source in self._crib.servers.values():
            return source in seen_servers(self._crib, self._guest)
        return lets_through(source.id or "", self._guest.profile.scope)

    async def _tell(self, source: McpSource, kinds: AbstractSet[str]) -> None:
        if not await asyncio.to_thread(self._sees, source):
            return
        for method, event, of in _KINDS:
            if kinds & of:
                for connection in tuple(self._fronts):
                    await connection.notify(method, None)
                await self._publish(event())
