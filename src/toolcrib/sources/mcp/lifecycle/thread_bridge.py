"""From the caller's thread to the server loop, and back with progress, logs, questions."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace

from toolcrib.model import Call, CallContext, InputRequest, JsonObject, Outcome, log_nowhere
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest
from toolcrib.sources.mcp.lifecycle.notifications import OnUpdate
from toolcrib.sources.mcp.lifecycle.server_loop import ServerLoop
from toolcrib.sources.mcp.lifecycle.supervisor import ServerSupervisor
from toolcrib.sources.mcp.outcome import refusal


def on_callers_loop(running: CallContext) -> CallContext:
    """The same, to be used on another loop: whoever listens goes on doing so on this one.

    Cancelling a question there takes it back here.
    """
    loop = asyncio.get_running_loop()

    def progress(done: float, every: float | None, message: str) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(running.progress, done, every, message)

    def log(message: JsonObject) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(running.log, message)

    async def here(asked: Mapping[str, InputRequest]) -> Mapping[str, JsonObject]:
        return await running.ask(asked)

    async def ask(asked: Mapping[str, InputRequest]) -> Mapping[str, JsonObject]:
        if loop.is_closed():
            return {}
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(here(asked), loop))

    heard = running.log is not log_nowhere
    return replace(running, progress=progress, ask=ask, log=log if heard else log_nowhere)


# What is asked of a server from any thread, run where its connection lives.


class UpstreamRequests:
    """To one server, starting it if need be. Whatever goes wrong is an outcome."""

    def __init__(self, keeper: ServerSupervisor, room: ServerLoop) -> None:
        self._keeper = keeper
        self._room = room

    async def call(self, call: Call, running: CallContext) -> Outcome:
        return await self._run(self._keeper.call(call, on_callers_loop(running)))

    async def perform(self, errand: UpstreamRequest, running: CallContext) -> Outcome:
        return await self._run(self._keeper.perform(errand, on_callers_loop(running)))

    async def watch(self, uri: str, heard: OnUpdate, running: CallContext) -> Outcome:
        return await self._run(self._keeper.watch(uri, heard, on_callers_loop(running)))

    def unwatch(self, uri: str, heard: OnUpdate) -> None:
        with suppress(RuntimeError):  # closed meanwhile: nobody hears anything any more
            self._room.submit(self._keeper.unwatch(uri, heard))

    async def _run(self, work: Coroutine[object, object, Outcome]) -> Outcome:
        try:
            return await self._room.run(work)
        except RuntimeError as error:
            server = self._keeper.config.id
            return refusal("closed", "start", str(error), server=server, retryable=False)
