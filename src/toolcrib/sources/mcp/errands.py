"""What is asked of a server from any thread, run where its connection lives."""

from collections.abc import Coroutine
from contextlib import suppress

from toolcrib.model import Call, CallContext, Outcome
from toolcrib.sources.mcp.engine_room import EngineRoom
from toolcrib.sources.mcp.errand import Errand
from toolcrib.sources.mcp.hop import from_elsewhere
from toolcrib.sources.mcp.keeper import Keeper
from toolcrib.sources.mcp.refusal import refusal
from toolcrib.sources.mcp.watchers import Heard


class Errands:
    """To one server, starting it if need be. Whatever goes wrong is an outcome."""

    def __init__(self, keeper: Keeper, room: EngineRoom) -> None:
        self._keeper = keeper
        self._room = room

    async def call(self, call: Call, running: CallContext) -> Outcome:
        return await self._run(self._keeper.call(call, from_elsewhere(running)))

    async def perform(self, errand: Errand, running: CallContext) -> Outcome:
        return await self._run(self._keeper.perform(errand, from_elsewhere(running)))

    async def watch(self, uri: str, heard: Heard, running: CallContext) -> Outcome:
        return await self._run(self._keeper.watch(uri, heard, from_elsewhere(running)))

    def unwatch(self, uri: str, heard: Heard) -> None:
        with suppress(RuntimeError):  # closed meanwhile: nobody hears anything any more
            self._room.submit(self._keeper.unwatch(uri, heard))

    async def _run(self, work: Coroutine[object, object, Outcome]) -> Outcome:
        try:
            return await self._room.run(work)
        except RuntimeError as error:
            server = self._keeper.config.id
            return refusal("closed", "start", str(error), server=server, retryable=False)
