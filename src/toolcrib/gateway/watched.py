"""Resources that clients want to hear of when they change."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from toolcrib.crib import Crib
from toolcrib.gateway import sdk
from toolcrib.gateway.asking import Heard, asker
from toolcrib.gateway.beside import result, running, seen_servers
from toolcrib.gateway.guest import Guest
from toolcrib.gateway.logs import Logs
from toolcrib.gateway.resources import meant_resource

_ENDS = "toolcrib/watched"
End = Callable[[], None]


class Watched:
    """For one guest: by connection in the era of the handshake, by stream in the modern one."""

    def __init__(self, crib: Crib, guest: Guest) -> None:
        self._crib = crib
        self._guest = guest
        self._telling: set[asyncio.Future[None]] = set()

    def handlers(self) -> dict[str, Any]:
        """What an SDK server takes as `on_...`, for this guest."""
        return {
            "on_subscribe_resource": self.subscribe,
            "on_unsubscribe_resource": self.unsubscribe,
        }

    async def subscribe(
        self, context: sdk.Context, params: sdk.SubscribeRequestParams
    ) -> sdk.EmptyResult:
        """Tell this connection of it, for as long as it lasts. Raises `MCPError`."""
        connection, uri = sdk.connection_of(context), params.uri
        ends = connection.state.setdefault(_ENDS, {})
        if uri not in ends:
            tell = partial(connection.send_resource_updated, uri)
            ends[uri] = await self._watch(context, uri, tell)
            connection.exit_stack.callback(_end, ends, uri)
        return sdk.EmptyResult()

    async def unsubscribe(
        self, context: sdk.Context, params: sdk.UnsubscribeRequestParams
    ) -> sdk.EmptyResult:
        """Tell it no more; what it did not hear of is no error."""
        _end(sdk.connection_of(context).state.get(_ENDS, {}), params.uri)
        return sdk.EmptyResult()

    @asynccontextmanager
    async def during(
        self, context: sdk.Context, uris: Sequence[str], tell: Callable[[str], Awaitable[None]]
    ) -> AsyncGenerator[None]:
        """Meanwhile `tell` hears, on this loop, which of these changed: for a modern stream.

        Those that cannot be watched are left out, as the protocol has it.
        """
        ends: list[End] = []
        try:
            for uri in uris:
                try:
                    ends.append(await self._watch(context, uri, lambda uri=uri: tell(uri)))
                except sdk.MCPError:
                    continue
            yield
        finally:
            for end in ends:
                end()

    async def _watch(
        self, context: sdk.Context, uri: str, tell: Callable[[], Awaitable[None]]
    ) -> End:
        """Returns what ends it. Raises `MCPError`."""
        servers = seen_servers(self._crib, self._guest)
        source, own, _ = meant_resource(servers, context, uri)
        loop = asyncio.get_running_loop()

        def heard() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._soon, tell)

        under_way = running(self._crib, self._guest, Heard(Logs(context), asker(context)))
        result(await source.offers.watch(own, heard, under_way))
        return lambda: source.offers.unwatch(own, heard)

    def _soon(self, tell: Callable[[], Awaitable[None]]) -> None:
        task = asyncio.ensure_future(tell())
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)


def _end(ends: dict[str, End], uri: str) -> None:
    if uri in ends:
        ends.pop(uri)()
