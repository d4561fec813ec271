"""What we do when a server says that something changed: `list_changed` and `resources/updated`.

Everything here runs on the server loop.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from toolcrib.model import Deadline
from toolcrib.sources.mcp.lifecycle.cache import ServerMemory
from toolcrib.sources.mcp.outcome import StartFailed

if TYPE_CHECKING:
    from toolcrib.sources.mcp.client.connection import Connection

LIST_TIMEOUT_S = 15.0
RELIST_AFTER_S = 1.0
RELIST_RARELY_S = 60.0
REVIEW_EVERY_S = 2.0
LIST_FAILED = "list_failed"

Spawn: TypeAlias = Callable[[Coroutine[object, object, None]], None]


class ListingFreshness:
    """Of one server. `tell` hears when what is known of it is another.

    Each time the server says that its list is another counts; a listing covers what was said
    before it began. What is not covered is old, and nothing is done by it. `connection` is the one
    that is up, if any: whoever keeps the server sets it.
    """

    def __init__(self, memory: ServerMemory, tell: Callable[[], None], spawn: Spawn) -> None:
        self.connection: Connection | None = None
        self._memory = memory
        self._tell = tell
        self._spawn = spawn
        self._said = self._covered = self._began = 0
        self._freshening = False
        self._listing = asyncio.Lock()
        self._tried_at = 0.0
        self._following: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """A server is about to be started, and listed as it comes up."""
        self._began = self._said

    def listed(self, connection: "Connection") -> None:
        """The server was listed as it came up; it may have said meanwhile that that is old."""
        self._tried_at = time.monotonic()
        self._covered = self._began
        self.connection = connection
        self._follow()

    def changed(self) -> None:
        """The server says that its list is another: list it, though not every time it says so."""
        self._said += 1
        self._follow()

    async def before_use(self, connection: "Connection") -> None:
        """Wait until what the server has said to be old by now is listed anew.

        Raises `StartFailed` if that fails: nothing is sent to a server whose tools are not known.
        """
        said = self._said
        if self._covered < said:
            await asyncio.sleep(self._tried_at + RELIST_AFTER_S - time.monotonic())
            try:
                await self._cover(connection, said)
            except StartFailed as error:
                if error.code != LIST_FAILED:
                    raise
                told = f"said that its tools changed, and now {error}; nothing was sent: call again"
                raise StartFailed(error.code, f"{told} in a moment") from error

    async def relist(self, connection: "Connection") -> None:
        """List again, whatever was said. Raises `StartFailed`; what was known then stays."""
        await self._cover(connection, self._said + 1)

    async def _cover(self, connection: "Connection", said: int) -> bool:
        """List, unless somebody else has done so in time; whether that brought something new.

        Raises `StartFailed`.
        """
        async with self._listing:
            if self._covered >= said:
                return False
            began = self._said
            self._tried_at = time.monotonic()
            listing = await connection.list_all(Deadline(LIST_TIMEOUT_S))
            new = await asyncio.to_thread(self._memory.keep_listing, listing)
            self._covered = max(self._covered, began)  # only now: calls are checked by what is kept
        if new:
            self._tell()
        return new

    async def follow_reviews(self) -> None:
        """While tools wait for a decision, hear of it soon, whichever process it is made in."""
        if self._following is None:
            self._following = asyncio.create_task(self._follow_reviews())

    def close(self) -> None:
        if self._following:
            self._following.cancel()

    def _follow(self) -> None:
        if self.connection and self._covered < self._said and not self._freshening:
            self._freshening = True
            self._spawn(self._freshen(self.connection))

    async def _freshen(self, connection: "Connection") -> None:
        """List by and by, more and more rarely where that brings nothing new, or fails."""
        pause = RELIST_AFTER_S
        try:
            while self._covered < self._said and connection is self.connection:
                await _sleep_or(pause, connection)
                if connection is self.connection:
                    new = await self._covers(connection)
                    pause = RELIST_AFTER_S if new else min(2 * pause, RELIST_RARELY_S)
        finally:
            self._freshening = False

    async def _covers(self, connection: "Connection") -> bool:
        try:
            return await self._cover(connection, self._said)
        except StartFailed:  # the next call will say what is wrong with it
            return False

    async def _follow_reviews(self) -> None:
        last = self._memory.judge()
        while last.held():
            await asyncio.sleep(REVIEW_EVERY_S)
            now = await asyncio.to_thread(self._memory.judge)
            if now is not last:
                last = now
                self._tell()
        self._following = None


async def _sleep_or(seconds: float, connection: "Connection") -> None:
    """Sleep, or as long as the connection lasts."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await connection.wait_lost()


# Who wants to hear when a resource of a server is another.

OnUpdate = Callable[[], None]


class ResourceWatchers:
    """By the server's own URIs. Those who hear are called on the server loop."""

    def __init__(self) -> None:
        self._heard: dict[str, list[OnUpdate]] = {}

    def uris(self) -> tuple[str, ...]:
        """All that somebody wants to hear of."""
        return tuple(self._heard)

    def add(self, uri: str, heard: OnUpdate) -> None:
        self._heard.setdefault(uri, []).append(heard)

    def remove(self, uri: str, heard: OnUpdate) -> bool:
        """Whether nobody is left who wants to hear of it."""
        here = self._heard.get(uri, [])
        if heard in here:
            here.remove(heard)
        if here or uri not in self._heard:
            return False
        del self._heard[uri]
        return True

    def updated(self, uri: str) -> None:
        """Tell all who want to hear of it."""
        for heard in tuple(self._heard.get(uri, ())):
            heard()
