"""The spans of what clients ask: each request in one of its own, which says where it was asked.

A request that is served here is part of the client's trace by its `_meta`. From here on it is in
our span: `_meta` is changed so, and whoever reads it goes on from there.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, cast

from toolcrib.gateway import sdk
from toolcrib.gateway.call_channel import CallChannel
from toolcrib.gateway.input_requests import Work
from toolcrib.model import Json, SpanRecord, read_traceparent, read_tracestate
from toolcrib.observe import Tracer, child_of, conversation_mark, mask_personal, one_line

TRACEPARENT: Final = "traceparent"
TRACESTATE: Final = "tracestate"
TOOL_ERROR: Final = "tool_error"
CANCELLED: Final = "cancelled"

ServePlainly = Callable[[sdk.Context, Work], Awaitable[bytes]]


class RequestSpans:
    """Those of one principal's clients. `knows` says whether a name is one of ours."""

    def __init__(self, tracer: Tracer | None, knows: Callable[[str], bool]) -> None:
        self._tracer = tracer
        self._knows = knows

    async def around(self, ctx: sdk.Context, call_next: sdk.CallNext) -> sdk.HandlerResult:
        """A middleware of the SDK: serve a request in a span; a notification has none."""
        if not self._tracer or ctx.request_id is None:
            return await call_next(ctx)
        span = _OpenSpan(ctx)
        try:
            result = await call_next(span.context)
        except Exception as error:
            span.code = _error_code(error)
            raise
        else:
            span.ended(result)
            return result
        finally:
            self._tracer.tell(span.record(self._target(ctx)))

    async def around_plain(self, context: sdk.Context, work: Work, serve: ServePlainly) -> bytes:
        """The same of a plain call, which goes past the SDK."""
        if not self._tracer:
            return await serve(context, work)
        span = _OpenSpan(context)

        async def noted(channel: CallChannel) -> sdk.Result:
            result = await work(channel)
            span.ended(result)
            return result

        try:
            return await serve(span.context, noted)
        except Exception as error:
            span.code = _error_code(error)
            raise
        finally:
            self._tracer.tell(span.record(self._target(context)))

    def _target(self, context: sdk.Context) -> str:
        """The name of the tool or the prompt; what is not known may be anything that was said."""
        name = (context.params or {}).get("name")
        if not isinstance(name, str):
            return ""
        return name if self._knows(name) else mask_personal(one_line(name))


class _OpenSpan:
    """The span of a request that is served now. `code` is why it failed, "" if it did not."""

    def __init__(self, context: sdk.Context) -> None:
        self._parent, self._state = trace_of(context)
        self._own = child_of(self._parent)
        self._at, self._began = time.time(), time.monotonic()
        self.code = CANCELLED
        inside = {**(context.meta or {}), TRACEPARENT: self._own}
        self.context = replace(context, meta=cast("Any", inside))

    def ended(self, result: object) -> None:
        """It has this result."""
        match result:
            case {"isError": True}:
                self.code = TOOL_ERROR
            case _:
                self.code = ""

    def record(self, target: str) -> SpanRecord:
        """The span, now that it is over."""
        context, seconds = self.context, time.monotonic() - self._began
        session = sdk.connection_of(context).session_id
        facts: dict[str, Json] = {
            "method": one_line(context.method),
            "version": context.protocol_version,
            "request_id": one_line(str(context.request_id)),
            "transport": "tcp" if session or context.request is not None else "pipe",
        }
        if session:
            facts["session"] = conversation_mark(session)
        if context.method == "prompts/get":
            facts["prompt"] = target
        ids = self._own, self._parent, self._state
        return SpanRecord("server", self._at, seconds, *ids, target, self.code, facts)


def trace_of(context: sdk.Context) -> tuple[str, str]:
    """The `traceparent` and the `tracestate` that a request is served under; "" where none is."""
    meta = cast("dict[str, Any]", context.meta or {})
    span = read_traceparent(meta.get(TRACEPARENT))
    return span, read_tracestate(meta.get(TRACESTATE)) if span else ""


def _error_code(error: Exception) -> str:
    if isinstance(error, sdk.MCPError):
        return str(error.error.code)
    return str(sdk.INVALID_PARAMS if isinstance(error, sdk.ValidationError) else sdk.INTERNAL_ERROR)
