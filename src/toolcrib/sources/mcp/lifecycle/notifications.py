"""What we do when a server says that something changed: `list_changed` and `resources/updated`.

`list_changed` may come at any time and any number of times. It is counted, and a listing covers the
notifications that came before it began. While one is not covered the listing is stale: calls wait
until the server is listed again, and nothing is sent by a stale listing.

Everything here runs on the server loop.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from toolcrib.model import CallContext, Deadline, Outcome
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest
from toolcrib.sources.mcp.lifecycle.memory import ServerMemory
from toolcrib.sources.mcp.outcome import StartFailed

if TYPE_CHECKING:
    from toolcrib.sources.mcp.client.connection import Connection

LIST_TIMEOUT_S = 60.0
RELIST_AFTER_S = 1.0
RELIST_RARELY_S = 60.0
REVIEW_EVERY_S = 2.0
SUBSCRIBE_S = 5.0
LIST_FAILED = "list_failed"

OnUpdate = Callable[[], None]
Serve: TypeAlias = Callable[[UpstreamRequest], Awaitable[Outcome]]
Spawn: TypeAlias = Callable[[Coroutine[object, object, None]], None]


class ListingFreshness:
    """Keeps the listing of one server fresh. `on_change` is called when it is another.

    `connection` is the one that is up, if any: the supervisor sets it.
    """

    def __init__(self, memory: ServerMemory, on_change: Callable[[], None], spawn: Spawn) -> None:
        self.connection: Connection | None = None
        self._memory = memory
        self._on_change = on_change
        self._spawn = spawn
        self._notified = self._covered = self._notified_at_start = 0
        self._listing = asyncio.Lock()
        self._listed_at = 0.0
        self._is_following = False
        self._review_task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """A server is about to be started, which lists it."""
        self._notified_at_start = self._notified

    def listed(self, connection: "Connection") -> None:
        """The start has listed the server. It may have sent `list_changed` meanwhile."""
        self._listed_at = time.monotonic()
        self._covered = self._notified_at_start
        self.connection = connection
        self._follow()

    def changed(self) -> None:
        """`list_changed` came: list the server, though not every time that it says so."""
        self._notified += 1
        self._follow()

    @property
    def is_fresh(self) -> bool:
        """Whether the listing covers all notifications that have come by now."""
        return self._covered >= self._notified

    async def before_use(self, connection: "Connection") -> None:
        """Wait until the listing covers all notifications that have come by now.

        Raises `StartFailed` if that fails: nothing is sent to a server whose tools are not known.
        """
        notified = self._notified
        if self._covered < notified:
            await asyncio.sleep(self._listed_at + RELIST_AFTER_S - time.monotonic())
            try:
                await self._cover(connection, notified)
            except StartFailed as error:
                if error.code != LIST_FAILED:
                    raise
                message = (
                    f"said that its tools changed, and now {error}; nothing was sent: call again"
                    " in a moment"
                )
                raise StartFailed(error.code, message) from error

    async def relist(self, connection: "Connection") -> None:
        """List in any case. Raises `StartFailed`; then what was known stays."""
        await self._cover(connection, self._notified + 1)

    async def _cover(self, connection: "Connection", notified: int) -> bool:
        """List, unless another listing covers so many notifications; whether anything is new.

        Raises `StartFailed`.
        """
        async with self._listing:
            if self._covered >= notified:
                return False
            before = self._notified
            self._listed_at = time.monotonic()
            listing = await connection.list_all(Deadline(LIST_TIMEOUT_S))
            is_new = await asyncio.to_thread(self._memory.keep_listing, listing)
            self._covered = max(self._covered, before)  # only now: calls are checked by the memory
        if is_new:
            self._on_change()
        return is_new

    def _follow(self) -> None:
        if self.connection and self._covered < self._notified and not self._is_following:
            self._is_following = True
            self._spawn(self._follow_list(self.connection))

    async def _follow_list(self, connection: "Connection") -> None:
        """List after a pause, which grows while listing brings nothing new, or fails."""
        pause_s = RELIST_AFTER_S
        try:
            while self._covered < self._notified and connection is self.connection:
                await _sleep_or(pause_s, connection)
                if connection is self.connection:
                    is_new = await self._try_to_cover(connection)
                    pause_s = RELIST_AFTER_S if is_new else min(2 * pause_s, RELIST_RARELY_S)
        finally:
            self._is_following = False

    async def _try_to_cover(self, connection: "Connection") -> bool:
        try:
            return await self._cover(connection, self._notified)
        except StartFailed:  # the next call will say what is wrong
            return False

    async def follow_reviews(self) -> None:
        """While tools wait for a decision, notice one soon, whichever process it is made in."""
        if self._review_task is None:
            self._review_task = asyncio.create_task(self._follow_reviews())

    async def _follow_reviews(self) -> None:
        last, waits = self._memory.trust.version(), True
        doubt: str | None = None  # whether there was any when it was listed is not known here
        while waits:
            await asyncio.sleep(REVIEW_EVERY_S)
            now = await asyncio.to_thread(self._memory.trust.version)
            before, doubt = doubt, (await asyncio.to_thread(self._memory.judge)).problem
            if now != last or before != doubt:
                last = now
                waits = (await asyncio.to_thread(self._memory.judge)).held()
                self._on_change()
        self._review_task = None

    def close(self) -> None:
        if self._review_task:
            self._review_task.cancel()


async def _sleep_or(seconds: float, connection: "Connection") -> None:
    """Sleep so long, or until the connection is lost."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await connection.wait_lost()


class ResourceWatchers:
    """Who wants to know when a resource changes, by the server's own URIs.

    The server is told which ones somebody watches, and again after each start.
    """

    def __init__(self) -> None:
        self._by_uri: dict[str, list[OnUpdate]] = {}

    def uris(self) -> tuple[str, ...]:
        """All that somebody watches."""
        return tuple(self._by_uri)

    async def subscribe(self, uri: str, on_update: OnUpdate, serve: Serve) -> Outcome:
        """Call this whenever the resource changes, if the server agrees; `serve` asks it."""
        outcome = await serve(UpstreamRequest("resources/subscribe", {"uri": uri}))
        if outcome.ok:
            self._by_uri.setdefault(uri, []).append(on_update)
        return outcome

    async def unsubscribe(
        self, uri: str, on_update: OnUpdate, connection: "Connection | None"
    ) -> bool:
        """End that; whether the server had to be told."""
        if not self._remove(uri, on_update) or connection is None:
            return False
        await _send_unattended(connection, UpstreamRequest("resources/unsubscribe", {"uri": uri}))
        return True

    def resume(self, connection: "Connection", spawn: Spawn) -> None:
        """Tell a server that was started again what is watched."""
        for uri in self._by_uri:
            request = UpstreamRequest("resources/subscribe", {"uri": uri})
            spawn(_send_unattended(connection, request))

    def updated(self, uri: str) -> None:
        """`resources/updated` came: call all who watch it, on the server loop."""
        for on_update in tuple(self._by_uri.get(uri, ())):
            on_update()

    def _remove(self, uri: str, on_update: OnUpdate) -> bool:
        """Whether nobody watches it any more."""
        watchers = self._by_uri.get(uri, [])
        if on_update in watchers:
            watchers.remove(on_update)
        if watchers or uri not in self._by_uri:
            return False
        del self._by_uri[uri]
        return True


async def _send_unattended(connection: "Connection", request: UpstreamRequest) -> None:
    """Send a request whose outcome nobody waits for."""
    await connection.request(request, CallContext(Deadline(SUBSCRIBE_S)))
