"""What the signals of a daemon mean.

SIGTERM   drain, then end; a second one ends it at once
SIGINT    end at once
SIGHUP    read everything again; if its terminal was closed, end
"""

import asyncio
import logging
import signal
import sys
from collections.abc import Awaitable, Callable

from toolcrib.errors import ToolcribError

_log = logging.getLogger(__name__)


class SignalHandlers:
    """The handlers of one daemon, on the loop that runs. Nothing happens before `install`."""

    def __init__(
        self,
        drain: Callable[[], Awaitable[None]],
        stop: Callable[[], None],
        reload: Callable[[], Awaitable[None]],
    ) -> None:
        self._drain, self._stop, self._reload = drain, stop, reload
        self._draining: asyncio.Future[None] | None = None
        self._reloading: asyncio.Future[None] | None = None

    def install(self) -> None:
        """From now on."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.terminate)
        loop.add_signal_handler(signal.SIGINT, self._stop)
        # A closed terminal sends the same signal as an operator who wants a reload.
        loop.add_signal_handler(
            signal.SIGHUP, self._stop if sys.stderr.isatty() else self._reload_soon
        )

    def terminate(self) -> None:
        """What SIGTERM does."""
        if self._draining:
            self._stop()
        else:
            self._draining = asyncio.ensure_future(self._drain_and_stop())

    async def _drain_and_stop(self) -> None:
        try:
            await self._drain()
        finally:
            self._stop()

    def _reload_soon(self) -> None:
        self._reloading = asyncio.ensure_future(self._reload_or_log())

    async def _reload_or_log(self) -> None:
        try:
            await self._reload()
        except ToolcribError:
            _log.warning("not everything was reloaded; the messages above say why")
