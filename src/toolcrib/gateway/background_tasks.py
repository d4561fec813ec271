"""What a daemon does for its crib while it serves: listing servers, apps, the index."""

import asyncio
import logging
from contextlib import suppress

from toolcrib.crib import Crib, inventory_of
from toolcrib.errors import SourceError, StoreError, ToolcribError
from toolcrib.pool import TOOLS_UPDATED, ToolsUpdated
from toolcrib.sources.mcp import McpSource

FIRST_PAUSE_S = 10.0
LONGEST_PAUSE_S = 600.0
REVIEW_EVERY_S = 2.0
EMBED_S = 3600
GATHER_S = 0.5
"""Changes within this time are indexed together: a server that starts changes much."""

_log = logging.getLogger(__name__)


class ServerLister:
    """Lists the servers of one crib whose tools are unknown. Nobody waits for it.

    A server that fails is tried again after pauses that grow. One that only a person can mend is
    not tried again until somebody asks for it.
    """

    def __init__(self, crib: Crib) -> None:
        self._crib = crib
        self._tasks: dict[McpSource, asyncio.Task[None]] = {}

    def look(self) -> None:
        """Begin with servers that are new, and give up those that are gone."""
        servers = set(inventory_of(self._crib).servers.values())
        for gone in self._tasks.keys() - servers:
            self._tasks.pop(gone).cancel()
        for source in servers - self._tasks.keys():
            if source.is_unknown:
                self._tasks[source] = asyncio.create_task(self._list(source))

    def close(self) -> None:
        """Give up all."""
        for task in self._tasks.values():
            task.cancel()

    async def _list(self, source: McpSource) -> None:
        pause = FIRST_PAUSE_S
        while source.is_unknown:
            try:
                done = await asyncio.wrap_future(source.refresh())
            except RuntimeError:  # the servers are closed
                return
            failure = source.status().failure
            if failure and failure.code == "unreviewed":
                await self._approved(source)
                continue
            if not done.error or (failure and failure.needs_person):
                return  # the log of the server and ours say how it went
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    async def _approved(self, source: McpSource) -> None:
        """Wait until the operator has said yes to its entry."""
        while True:
            with suppress(StoreError):
                if await asyncio.to_thread(source.trust.may_start):
                    return
            await asyncio.sleep(REVIEW_EVERY_S)


class BackgroundTasks:
    """The tasks of one crib, until they are closed. Made where the event loop runs.

    `has_indexed` says whether a search would find what there is.
    """

    def __init__(self, crib: Crib) -> None:
        self._crib = crib
        self._lister = ServerLister(crib)
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._unsubscribe = inventory_of(crib).pool.events.subscribe(TOOLS_UPDATED, self._updated)
        self._task: asyncio.Task[None] | None = None
        self.has_indexed = False

    def start(self) -> None:
        """Begin: list what nobody has listed, let apps join, and index everything."""
        self._lister.look()
        self._task = asyncio.create_task(self._run())

    def look(self) -> None:
        """List servers that are new."""
        self._lister.look()

    async def close(self) -> None:
        """Cancel all of it: to embed everything may take an hour."""
        self._unsubscribe()
        self._unsubscribe = lambda: None  # a daemon that ends may close twice
        self._lister.close()
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        """A search that comes before the index waits, or finds less."""
        operator = self._crib.operator
        logged = (*operator.broken_files, operator.rules_problem)  # elsewhere, once each
        for problem in self._crib.problems:
            if problem not in logged:
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
            with suppress(ToolcribError):  # the next search says so
                await asyncio.to_thread(self._crib.index.embedded, 0.0)
                self.has_indexed = True

    async def _index(self) -> None:
        """Index, and log how far it is: by words at first, by meaning once there are vectors."""
        done = await asyncio.to_thread(self._crib.index.embedded, 0.0)
        self.has_indexed = True
        _log.info("%d capabilities are indexed", len(self._crib.entries()))
        if self._crib.index.has_embedder and not done:
            _log.info("embedding in the background; searches go by words meanwhile")
            for _ in range(EMBED_S):
                if await asyncio.to_thread(self._crib.index.embedded, 1.0):
                    _log.info("embedded; searches go by meaning too")
                    return
                await asyncio.sleep(1.0)

    def _updated(self, _event: ToolsUpdated) -> None:
        """Called on any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._changed.set)
