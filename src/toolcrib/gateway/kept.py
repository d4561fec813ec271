"""One piece of work for a client of the modern era, which goes on from one request to the next."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import NamedTuple, TypeAlias

from toolcrib.gateway import sdk
from toolcrib.gateway.asking import Heard, Replies, can_reply
from toolcrib.gateway.logs import Logs
from toolcrib.model import InputRequest, JsonObject

HANDLE_BYTES = 24

Work: TypeAlias = Callable[[Heard], Awaitable[sdk.Result]]


class _Open(NamedTuple):
    asked: InputRequest
    reply: "asyncio.Future[JsonObject]"


class Kept:
    """The work, under way. `handle` is another in each round; `task` is done when the work is.

    `given` are replies that came before anything was asked.
    """

    def __init__(
        self,
        context: sdk.Context,
        work: Work,
        given: Replies | None,
    ) -> None:
        self.handle = secrets.token_urlsafe(HANDLE_BYTES)
        self._logs = Logs(context)
        self._given = dict(given or {})
        self._open: dict[str, _Open] = {}
        self._asking = _promise()
        self._numbers = count(2)
        self.task = asyncio.ensure_future(_heard_out(work, Heard(self._logs, self._ask)))

    async def until_asked(self) -> sdk.Result | None:
        """The result; None once something is asked. Raises what the work raises."""
        await asyncio.wait({self.task, self._asking}, return_when="FIRST_COMPLETED")
        await self._logs.sent()
        return self.task.result() if self.task.done() else None

    def asked(self) -> sdk.Result:
        """All that waits for a reply, as the client gets it."""
        return {
            key: {"method": each.asked.question, "params": dict(each.asked.params)}
            for key, each in self._open.items()
        }

    def resume(self, context: sdk.Context, replies: Replies | None) -> None:
        """Go on with these replies, for this request. What they leave open is asked again."""
        self.handle = secrets.token_urlsafe(HANDLE_BYTES)
        self._logs.context = context
        for key in set(self._open).intersection(replies or {}):
            self._open.pop(key).reply.set_result((replies or {})[key])
        self._settle()

    def cancel(self) -> None:
        self.task.cancel()

    async def _ask(self, asked: Mapping[str, InputRequest]) -> Replies:
        context = self._logs.context
        able = {key: each for key, each in asked.items() if can_reply(context, each)}
        replies = {key: self._given.pop(key) for key in able if key in self._given}
        left = {key: each for key, each in able.items() if key not in replies}
        if left:
            replies |= await self._replies(left)
        return replies

    async def _replies(self, asked: Mapping[str, InputRequest]) -> Replies:
        loop = asyncio.get_running_loop()
        opened = {
            self._free(key): (key, _Open(each, loop.create_future())) for key, each in asked.items()
        }
        self._open |= {name: open_ for name, (_, open_) in opened.items()}
        self._settle()
        try:
            return {key: await open_.reply for key, open_ in opened.values()}
        finally:
            for name in opened:
                self._open.pop(name, None)
            self._settle()

    def _free(self, key: str) -> str:
        """The key, or one like it where another question has it."""
        return key if key not in self._open else f"{key}-{next(self._numbers)}"

    def _settle(self) -> None:
        if self._open and not self._asking.done():
            self._asking.set_result(None)
        elif not self._open and self._asking.done():
            self._asking = _promise()


async def _heard_out(work: Work, heard: Heard) -> sdk.Result:
    try:
        return await work(heard)
    finally:
        await heard.sent()


def _promise() -> "asyncio.Future[None]":
    return asyncio.get_running_loop().create_future()
