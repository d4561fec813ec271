"""Who is told that the list of tools is another: by connection, and by subscription."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from toolcrib.gateway import sdk

PAUSE_S = 0.05
"""What changes within this time is told once: a server that starts changes much at once."""


@dataclass(slots=True)
class Front:
    """Somebody who may be told: how to list for them, and what they know; None if nothing."""

    list_again: Callable[[], list[sdk.Result]]
    known: list[sdk.Result] | None = None


class News:
    """Tells the clients of one window. `changed` may be called on any thread, the rest may not.

    Only those are told who have listed, and whose list is another now.
    """

    def __init__(self, modern: Callable[[], list[sdk.Result]]) -> None:
        self._bus = sdk.InMemorySubscriptionBus()
        self._listen = sdk.ListenHandler(self._bus)
        self._modern = Front(modern)
        self._fronts: dict[sdk.Connection, Front] = {}
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
        self._fronts[connection] = Front(front, given)

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
                if await _is_another(front):
                    await connection.notify("notifications/tools/list_changed", None)
            if await _is_another(self._modern):
                await self._bus.publish(sdk.ToolsListChanged())


async def _is_another(front: Front) -> bool:
    """Whether the list is not the one that is known; it is known then."""
    if front.known is None:
        return False
    now = await asyncio.to_thread(front.list_again)
    before, front.known = front.known, now
    return now != before
