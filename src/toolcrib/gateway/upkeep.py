"""What a daemon does for its crib beside serving it: apps, the index, servers to be listed."""

import asyncio
import logging
from contextlib import suppress

from toolcrib.crib import Crib
from toolcrib.errors import SourceError, ToolcribError
from toolcrib.gateway.lister import Lister
from toolcrib.pool import TOOLS_UPDATED, ToolsUpdated

EMBED_S = 3600
GATHER_S = 0.5
"""What changes within this time is indexed at once: a server that starts changes much."""

_log = logging.getLogger(__name__)


class Upkeep:
    """Of one crib, in the background, until it is closed. Made where the event loop runs."""

    def __init__(self, crib: Crib) -> None:
        self._crib = crib
        self._lister = Lister(crib)
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._unsubscribe = crib.pool.events.subscribe(TOOLS_UPDATED, self._updated)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin: list what nobody has listed, let apps join, and index everything."""
        self._lister.look()
        self._task = asyncio.create_task(self._run())

    def look(self) -> None:
        """List servers that have come."""
        self._lister.look()

    async def close(self) -> None:
        """Give all of it up: to embed everything may take an hour."""
        self._unsubscribe()
        self._unsubscribe = lambda: None  # a daemon that ends may come twice
        self._lister.close()
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        """Whoever searches before the index is there waits, or gets less."""
        said = (*self._crib.broken_files, self._crib.rules_problem)  # elsewhere, once each
        for problem in self._crib.problems:
            if problem not in said:
                _log.warning("%s", problem)
        try:
            if self._crib.settings.apps.enabled:
                await asyncio.to_thread(self._crib.listen)
        except SourceError as error:
            _log.warning("%s", error)
        try:
            await self._index()
        except ToolcribError as error:
            _log.error("not indexed: %s", error)
        while True:
            await self._changed.wait()
            await asyncio.sleep(GATHER_S)
            self._changed.clear()
            with suppress(ToolcribError):  # whoever searches is told
                await asyncio.to_thread(self._crib.embedded, 0.0)

    async def _index(self) -> None:
        """Index, and say how far it is: by words at first, by meaning once there are vectors."""
        done = await asyncio.to_thread(self._crib.embedded, 0.0)
        _log.info("%d capabilities are indexed", len(self._crib.entries()))
        if self._crib.has_embedder and not done:
            _log.info("embedding in the background; searches go by words meanwhile")
            for _ in range(EMBED_S):
                if await asyncio.to_thread(self._crib.embedded, 1.0):
                    _log.info("embedded; searches go by meaning too")
                    return
                await asyncio.sleep(1.0)

    def _updated(self, _news: ToolsUpdated) -> None:
        """Called on any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._changed.set)
