"""From the thread where connections live to that of whoever called."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from toolcrib.model import CallContext, InputRequest, JsonObject, log_nowhere


def from_elsewhere(running: CallContext) -> CallContext:
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
