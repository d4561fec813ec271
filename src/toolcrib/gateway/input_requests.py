"""A request of a client that may need input in between, over as many rounds as that takes.

A client of the modern era cannot be sent a question. It gets the question in place of the result,
and makes the same request again with the reply. Until then the call is suspended under a handle. A
handle cannot be guessed and is good for one reply; a seal ties it to the request that it was given
for.

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

MOST_SUSPENDED = 6
DONE_S = 60.0
HANDLE_BYTES = 24
KEY_BYTES = 32
INPUT_REQUIRED = "input_required"
NOT_SENDABLE = "the tool ran, but MCP cannot carry its result; `toolcrib call` shows it"
NOT_VALID = "this requestState is not valid, or not any more; make the request again without it"

Work: TypeAlias = Callable[[CallChannel], Awaitable[sdk.Result]]


class InputRequests:
    """Serves the requests of one principal, and keeps those that wait for a reply."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal
        self._key = secrets.token_bytes(KEY_BYTES)
        self._suspended: dict[str, SuspendedCall] = {}

    async def serve(self, context: sdk.Context, work: Work) -> sdk.Result:
        """Do the work of a request, or go on with it. Cancelling it cancels the work.

        Raises `MCPError` for a `requestState` that is none of ours, and for a result that the
        protocol does not know: the SDK would write it to the log instead of sending it.
        """
        if not sdk.is_modern(context):
            result = await _run_asking(context, work)
        elif _param(context, "requestState"):
            result = await self._round(context, self._resume(context))
        else:
            call = SuspendedCall(context, work, _param(context, "inputResponses"))
            result = await self._round(context, call)
        if not sdk.fits(context.method, context.protocol_version, result):
            raise sdk.MCPError(sdk.INTERNAL_ERROR, NOT_SENDABLE)
        return result

    async def serve_plainly(self, context: sdk.Context, work: Work) -> bytes:
        """The same for a request of the handshake era; the result as JSON."""
        result = await _run_asking(context, work)
        try:
            return sdk.result_json(context.method, context.protocol_version, result)
        except sdk.ValidationError:
            raise sdk.MCPError(sdk.INTERNAL_ERROR, NOT_SENDABLE) from None

    def close(self) -> None:
        """Give up every call that waits."""
        for call in self._suspended.values():
            call.cancel()
        self._suspended.clear()

    async def _round(self, context: sdk.Context, call: "SuspendedCall") -> sdk.Result:
        """The result, or what the client has to answer first."""
        try:
            result = await call.until_asked()
        except asyncio.CancelledError:
            call.cancel()
            raise
        if result is not None:
            return result
        self._suspend(call)
        call.task.add_done_callback(lambda _: self._drop_later(call))
        return {
            "resultType": INPUT_REQUIRED,
            "inputRequests": call.questions(),
            "requestState": self._request_state(context, call),
        }

    def _suspend(self, call: "SuspendedCall") -> None:
        """Keep it; where too many wait, the one that has waited longest is given up."""
        while len(self._suspended) >= MOST_SUSPENDED:
            self._suspended.pop(next(iter(self._suspended))).cancel()
        self._suspended[call.handle] = call

    def _resume(self, context: sdk.Context) -> "SuspendedCall":
        state = str(_param(context, "requestState"))
        call = self._suspended.get(state.partition(".")[0])
        if call is None or not hmac.compare_digest(
            state.encode(), self._request_state(context, call).encode()
        ):
            raise sdk.MCPError(sdk.INVALID_PARAMS, NOT_VALID)
        del self._suspended[call.handle]
        call.resume(context, _param(context, "inputResponses"))
        return call

    def _request_state(self, context: sdk.Context, call: "SuspendedCall") -> str:
        """What a client sends back: the handle, sealed for this principal and this request."""
        sealed = [self._principal.id, call.handle, context.method, *_target(context.params or {})]
        seal = hmac.new(self._key, json.dumps(sealed).encode(), hashlib.sha256).hexdigest()
        return f"{call.handle}.{seal}"

    def _drop_later(self, call: "SuspendedCall") -> None:
        """Drop a call that is done after a while; until then a client finds its result."""
        if not call.task.cancelled():
            call.task.exception()  # the client that comes for it is told
        loop = asyncio.get_running_loop()
        loop.call_later(DONE_S, lambda: self._suspended.pop(call.handle, None))


class SuspendedCall:
    """Work of several rounds. `handle` is another in each; `task` is done when the work is.

    `given` are replies that came before anything was asked.
    """

    def __init__(self, context: sdk.Context, work: Work, given: Replies | None) -> None:
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
        await self._logs.flush()
        return self.task.result() if self.task.done() else None

    def questions(self) -> sdk.Result:
        """All that waits for a reply, as the client gets it."""
        return {
            key: {"method": each.request.question, "params": dict(each.request.params)}
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

    async def _ask(self, requests: Mapping[str, InputRequest]) -> Replies:
        context = self._logs.context
        possible = {key: each for key, each in requests.items() if can_reply(context, each)}
        replies = {key: self._given.pop(key) for key in possible if key in self._given}
        left = {key: each for key, each in possible.items() if key not in replies}
        if left:
            replies |= await self._replies(left)
        return replies

    async def _replies(self, requests: Mapping[str, InputRequest]) -> Replies:
        loop = asyncio.get_running_loop()
        opened = {
            self._free_key(key): (key, _OpenQuestion(each, loop.create_future()))
            for key, each in requests.items()
        }
        self._open |= {free: question for free, (_, question) in opened.items()}
        self._settle()
        try:
            return {key: await question.reply for key, question in opened.values()}
        finally:
            for free in opened:
                self._open.pop(free, None)
            self._settle()

    def _free_key(self, key: str) -> str:
        """The key, or one like it where another question has it."""
        return key if key not in self._open else f"{key}-{next(self._numbers)}"

    def _settle(self) -> None:
        if self._open and not self._asking.done():
            self._asking.set_result(None)
        elif not self._open and self._asking.done():
            self._asking = _promise()


class _OpenQuestion(NamedTuple):
    request: InputRequest
    reply: "asyncio.Future[JsonObject]"


async def _run_asking(context: sdk.Context, work: Work) -> sdk.Result:
    """The work of a client that can be asked in between."""
    return await _run(work, CallChannel(LogForwarder(context), client_asker(context)))


async def _run(work: Work, channel: CallChannel) -> sdk.Result:
    try:
        return await work(channel)
    finally:
        await channel.flush()


def _promise() -> "asyncio.Future[None]":
    return asyncio.get_running_loop().create_future()


def _param(context: sdk.Context, key: str) -> Any:  # noqa: ANN401 - JSON, checked by the SDK
    return (context.params or {}).get(key)


def _target(params: Mapping[str, Any]) -> list[Any]:
    arguments = json.dumps(params.get("arguments") or {}, sort_keys=True)
    return [params.get("name"), params.get("uri"), arguments]
