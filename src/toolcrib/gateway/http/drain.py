"""The end of a gateway over HTTP, so that clients lose nothing: first it says so, then it waits.

A balancer looks at `/ready` and sends nobody here any more. Meanwhile whatever comes is served,
but no session is begun that would have to end at once.
"""

import asyncio
import logging
from collections.abc import Mapping

from toolcrib.gateway.quotas import RETRY_S
from toolcrib.http import HttpRefusal, Message, Send

NOTICE_S = 3.0
"""How long a balancer may take to notice: requests that it sends meanwhile are served."""
_CLOSE = (b"connection", b"close")

_log = logging.getLogger(__name__)


class Drain:
    """The requests under way, and whether the end has begun. Streams that last do not count."""

    def __init__(self) -> None:
        self.has_begun = False
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def __enter__(self) -> None:
        """A request is under way until this is left."""
        self._running += 1
        self._idle.clear()

    def __exit__(self, *_error: object) -> None:
        self._running -= 1
        if not self._running:
            self._idle.set()

    def check_beginning(self) -> None:
        """Raises `HttpRefusal` once nothing that lasts may begin."""
        if self.has_begun:
            raise HttpRefusal(503, "draining", f"this gateway is ending; {_AGAIN}", retry_later())

    def closing(self, send: Send) -> Send:
        """The same `send`; an answer during the drain tells the client to hang up after it."""
        if not self.has_begun:
            return send

        async def closing(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [pair for pair in message.get("headers", ()) if pair[0] != _CLOSE[0]]
                message = {**message, "headers": [*headers, _CLOSE]}
            await send(message)

        return closing

    async def finish(self, most_s: float, notice_s: float) -> None:
        """Begin, and return when no request is under way; at the earliest after `notice_s`.

        After `most_s` it returns anyway.
        """
        self.has_begun = True
        _log.info("draining: no new sessions; running requests: %d", self._running)
        try:
            async with asyncio.timeout(most_s):
                await asyncio.sleep(notice_s)
                await self._idle.wait()
        except TimeoutError:
            _log.warning("%d requests have not ended within %g s", self._running, most_s)


_AGAIN = f"try again in {RETRY_S} s, and another one takes you if there is one"


def retry_later() -> Mapping[str, str]:
    """The header of an answer that will be another one soon."""
    return {"retry-after": str(RETRY_S)}
