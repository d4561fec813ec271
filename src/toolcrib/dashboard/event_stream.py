"""New events for browsers that are on Live: one thread looks, however many browsers there are.

    EventQueries.coming ──> EventFollower, a thread ──> a Watcher a browser ──> server-sent events

A browser that is slow skips events, and is told how many. The thread ends with the last browser.
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from threading import Lock, Thread

from toolcrib.dashboard.screens.live import event_rows
from toolcrib.errors import ToolcribError
from toolcrib.observe import LoggedEvent, Watcher
from toolcrib.store import EventFilter

QUIET_S = 10.0
"""Something is sent at least so often: then one finds out that the browser has left."""
BATCH_S = 0.5
MOST_ROWS = 50
AGAIN_S = 2.0
PING = b": \n\n"

_log = logging.getLogger(__name__)


class EventFollower:
    """Follows events while somebody watches. `coming` is what happens from when it is called."""

    def __init__(self, coming: Callable[[], Iterator[Sequence[LoggedEvent]]]) -> None:
        self._coming = coming
        self._watchers: tuple[Watcher, ...] = ()
        self._thread: Thread | None = None
        self._changing = Lock()

    def watch(self, on_ready: Callable[[], None]) -> Watcher:
        """Let somebody look on, until `unwatch`. `on_ready` is called in a thread."""
        watcher = Watcher(on_ready)
        with self._changing:
            self._watchers += (watcher,)
            if self._thread is None:
                self._thread = Thread(target=self._follow, name="toolcrib-live", daemon=True)
                self._thread.start()
        return watcher

    def unwatch(self, watcher: Watcher) -> None:
        """Let them look on no longer."""
        with self._changing:
            self._watchers = tuple(each for each in self._watchers if each is not watcher)

    def close(self) -> None:
        """There will be no more: let those who look on go."""
        for watcher in self._watchers:
            watcher.end()

    def _follow(self) -> None:
        while True:
            try:
                if self._hand_on():
                    return
            except ToolcribError as error:
                _log.warning("events cannot be followed: %s", error)
            time.sleep(AGAIN_S)

    def _hand_on(self) -> bool:
        """Hand on what comes; True once nobody watches."""
        for events in self._coming():
            with self._changing:
                watchers = self._watchers
                if not watchers:
                    self._thread = None
                    return True
            for watcher in watchers if events else ():
                watcher.put(events)
        return False


async def sent_events(follower: EventFollower, which: EventFilter) -> AsyncGenerator[bytes]:
    """What a browser is sent: the events that fit as rows of HTML, some at a time, to the end."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()

    def on_ready() -> None:
        loop.call_soon_threadsafe(ready.set)

    watcher = follower.watch(on_ready)
    try:
        yield PING
        while not watcher.ended:
            try:
                async with asyncio.timeout(QUIET_S):
                    await ready.wait()
            except TimeoutError:
                yield PING
                continue
            ready.clear()
            events, skipped = watcher.take()
            fitting = [each for each in events if which.fits(each.event)]
            if fitting or skipped:
                yield _message(fitting, skipped)
            await asyncio.sleep(BATCH_S)
    finally:
        follower.unwatch(watcher)


def _message(events: Sequence[LoggedEvent], skipped: int) -> bytes:
    """The newest of these first, as many as there is room for; the others count as skipped."""
    newest = {each.id: each.event for each in reversed(events[-MOST_ROWS:])}
    rows, _ = event_rows(newest)
    told = {"rows": "".join(rows), "skipped": skipped + len(events) - len(rows)}
    return f"data: {json.dumps(told)}\n\n".encode()
