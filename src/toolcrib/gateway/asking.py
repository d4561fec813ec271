"""What a tool asks and says in the middle of a call, for the client that made it.

A client of the handshake is sent a request on the stream of its own; what it did not declare it is
not asked. A client of the modern era cannot be sent any: see `rounds`.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, TypeAlias

from toolcrib.gateway import sdk
from toolcrib.gateway.logs import Logs
from toolcrib.gateway.relay import ProgressRelay
from toolcrib.model import (
    InputHandler,
    InputMethod,
    InputRequest,
    JsonObject,
    LogHandler,
    ProgressHandler,
)

_KINDS: Mapping[InputMethod, tuple[Any, type[sdk.BaseModel]]] = {
    "elicitation/create": (sdk.ElicitRequest, sdk.ElicitResult),
    "sampling/createMessage": (sdk.CreateMessageRequest, sdk.CreateMessageResult),
    "roots/list": (sdk.ListRootsRequest, sdk.ListRootsResult),
}
Replies: TypeAlias = Mapping[str, JsonObject]


def asker(context: sdk.Context) -> InputHandler:
    """How to ask the client of this request; one of the modern era replies to nothing here."""

    async def ask(asked: Mapping[str, InputRequest]) -> Replies:
        able = {key: each for key, each in asked.items() if can_reply(context, each)}
        if sdk.is_modern(context) or not context.session.can_send_request:
            return {}
        replies = await asyncio.gather(*(_reply(context, each) for each in able.values()))
        return {key: reply for key, reply in zip(able, replies, strict=True) if reply is not None}

    return ask


def can_reply(context: sdk.Context, asked: InputRequest) -> bool:
    """Whether the client has declared that it can be asked this."""
    has = context.session.client_capabilities or sdk.ClientCapabilities()
    if asked.question == "roots/list":
        return has.roots is not None
    if asked.question == "sampling/createMessage":
        with_tools = "tools" in asked.params or "toolChoice" in asked.params
        return has.sampling is not None and not (with_tools and has.sampling.tools is None)
    if asked.params.get("mode") == "url":
        return has.elicitation is not None and has.elicitation.url is not None
    return has.elicitation is not None


async def _reply(context: sdk.Context, asked: InputRequest) -> JsonObject | None:
    """The reply; None where the client, or whoever sits at it, gives none."""
    request, result = _KINDS[asked.question]
    params = {"params": asked.params} if asked.params else {}
    try:
        reply = await context.session.send_request(
            request.model_validate({"method": asked.question, **params}),
            result,
            metadata=sdk.ServerMessageMetadata(related_request_id=context.request_id),
        )
    except (sdk.MCPError, sdk.ValidationError):
        return None
    return reply.model_dump(**sdk.AS_SENT)


class Heard:
    """Who listens while work is done. `context` is the request that is served now.

    `progress` is None where the client did not ask for it.
    """

    def __init__(self, logs: Logs, ask: InputHandler) -> None:
        self._logs = logs
        self.ask = ask
        self.log: LogHandler = logs.log
        self._relay = ProgressRelay(self._report) if _wants_progress(logs.context) else None

    @property
    def context(self) -> sdk.Context:
        return self._logs.context

    @property
    def progress(self) -> ProgressHandler | None:
        return self._relay

    async def sent(self) -> None:
        """Return when all that was heard is on its way: nothing comes after the result."""
        if self._relay:
            await self._relay.end()
        await self._logs.sent()

    async def _report(self, done: float, every: float | None, message: str | None) -> None:
        await self.context.session.report_progress(done, every, message)


def _wants_progress(context: sdk.Context) -> bool:
    return context.meta is not None and context.meta.get("progress_token") is not None
