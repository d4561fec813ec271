"""Lists, in the background, the servers whose tools nobody knows yet."""

import asyncio

from toolcrib.crib import Crib
from toolcrib.sources.mcp.source import McpSource
from toolcrib.sources.mcp.start import FOR_A_PERSON

FIRST_PAUSE_S = 10.0
LONGEST_PAUSE_S = 600.0


class Lister:
    """Of one crib. How many are started at once is theirs to say; nobody waits for them here.

    A failure is kept with the server, and tried again after pauses that grow; one that only a
    person can mend is not, until somebody asks for it.
    """

    def __init__(self, crib: Crib) -> None:
        self._crib = crib
        self._tasks: dict[McpSource, asyncio.Task[None]] = {}

    def look(self) -> None:
        """Begin with servers that have come, and give up those that are gone."""
        servers = set(self._crib.servers.values())
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
            if not done.error or (failure and failure.code in FOR_A_PERSON):
                return  # how it went, the server's log and ours tell
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)
