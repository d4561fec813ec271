"""Work for a principal that may have to ask in between, over as many requests as that takes.

A client of the modern era cannot be sent a question: it gets it in place of the result, and calls
again with the reply. Until then the call is suspended, under a handle that cannot be guessed and is
good for one reply; a seal ties it to the very request that it was given for.

    request ──> work ──> asks ──> input_required + requestState ──┐
                  ^                                               │
                  └── reply <── the same request + requestState <─┘
"""

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from toolcrib.gateway import sdk
from toolcrib.gateway.call_channel import (
    CallChannel,
    LogForwarder,
    Replies,
    can_reply,
    client_asker,
)
from toolcrib.gateway.principal import Principal
from toolcrib.model import InputRequest, JsonObject

HANDLE_BYTES = 24

Work: TypeAlias = Callable[[CallChannel], Awaitable[sdk.Result]]


class _OpenQuestion(NamedTuple):
    asked: InputRequest
    reply: "asyncio.Future[JsonObject]"


class SuspendedCall:
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
        self._logs = LogForwarder(context)
        self._given = dict(given or {})
        self._open: dict[str, _OpenQuestion] = {}
        self._asking = _promise()
        self._numbers = count(2)
        self.task = asyncio.ensure_future(_run(work, CallChannel(self._logs, self._ask)))

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
            self._free(key): (key, _OpenQuestion(each, loop.create_future()))
            for key, each in asked.items()
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


async def _run(work: Work, heard: CallChannel) -> sdk.Result:
    try:
        return await work(heard)
    finally:
        await heard.sent()


def _promise() -> "asyncio.Future[None]":
    return asyncio.get_running_loop().create_future()


# Work for a principal that may have to ask in between, over as many requests as that takes.

MOST_SUSPENDED = 6
DONE_S = 60.0
KEY_BYTES = 32
INPUT_REQUIRED = "input_required"
NOT_SENDABLE = "the tool ran, but MCP cannot carry its result; `toolcrib call` shows it"
NOT_VALID = "this requestState is not valid, or not any more; make the request again without it"


class InputRequests:
    """The work that is done for one principal, and what of it waits for a reply."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal
        self._key = secrets.token_bytes(KEY_BYTES)
        self._kept: dict[str, SuspendedCall] = {}

    async def serve(self, context: sdk.Context, work: Work) -> sdk.Result:
        """Do the work of a request, or go on with it. Cancelling it cancels the work.

        Raises `MCPError` for a `requestState` that is none of ours, and for a result that the
        protocol does not know: the SDK would write it to the log instead of sending it.
        """
        result = await self._served(context, work)
        if not sdk.fits(context.method, context.protocol_version, result):
            raise sdk.MCPError(sdk.INTERNAL_ERROR, NOT_SENDABLE)
        return result

    async def _served(self, context: sdk.Context, work: Work) -> sdk.Result:
        if not sdk.is_modern(context):
            heard = CallChannel(LogForwarder(context), client_asker(context))
            try:
                return await work(heard)
            finally:
                await heard.sent()
        kept = self._resumed(context) if _param(context, "requestState") else None
        return await self._round(context, kept or self._begun(context, work))

    def close(self) -> None:
        """Give up all that waits."""
        for kept in self._kept.values():
            kept.cancel()
        self._kept.clear()

    def _begun(self, context: sdk.Context, work: Work) -> SuspendedCall:
        return SuspendedCall(context, work, _param(context, "inputResponses"))

    async def _round(self, context: sdk.Context, kept: SuspendedCall) -> sdk.Result:
        try:
            result = await kept.until_asked()
        except asyncio.CancelledError:
            kept.cancel()
            raise
        if result is not None:
            return result
        self._keep(kept)
        kept.task.add_done_callback(lambda _: self._drop_later(kept))
        state = self._sealed(context, kept)
        return {"resultType": INPUT_REQUIRED, "inputRequests": kept.asked(), "requestState": state}

    def _keep(self, kept: SuspendedCall) -> None:
        """Keep it; where too many wait, the one that has waited longest is given up."""
        while len(self._kept) >= MOST_SUSPENDED:
            self._kept.pop(next(iter(self._kept))).cancel()
        self._kept[kept.handle] = kept

    def _resumed(self, context: sdk.Context) -> SuspendedCall:
        handle = str(_param(context, "requestState")).partition(".")[0]
        kept = self._kept.get(handle)
        if kept is None or not self._fits(context, kept):
            raise sdk.MCPError(sdk.INVALID_PARAMS, NOT_VALID)
        del self._kept[handle]
        kept.resume(context, _param(context, "inputResponses"))
        return kept

    def _fits(self, context: sdk.Context, kept: SuspendedCall) -> bool:
        state = str(_param(context, "requestState"))
        return hmac.compare_digest(state.encode(), self._sealed(context, kept).encode())

    def _sealed(self, context: sdk.Context, kept: SuspendedCall) -> str:
        """The state that a client sends back: the handle, and whose and what it is for."""
        what = [self._principal.id, kept.handle, context.method, *_target(context.params or {})]
        seal = hmac.new(self._key, json.dumps(what).encode(), hashlib.sha256).hexdigest()
        return f"{kept.handle}.{seal}"

    def _drop_later(self, kept: SuspendedCall) -> None:
        """Let go of what is done, if nobody comes for it: whoever does finds it for a while."""
        if not kept.task.cancelled():
            kept.task.exception()  # whoever comes for it hears of it
        loop = asyncio.get_running_loop()
        loop.call_later(DONE_S, lambda: self._kept.pop(kept.handle, None))


def _param(context: sdk.Context, key: str) -> Any:  # noqa: ANN401 - JSON, checked by the SDK
    return (context.params or {}).get(key)


def _target(params: Mapping[str, Any]) -> list[Any]:
    arguments = json.dumps(params.get("arguments") or {}, sort_keys=True)
    return [params.get("name"), params.get("uri"), arguments]
