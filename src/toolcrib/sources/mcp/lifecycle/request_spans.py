"""The spans of what a call waits for at a server: its start, and the request itself.

The id of a request's span is made before it is sent: it goes along in `_meta`, so that the server
goes on with the trace.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from toolcrib.model import CallContext, CallTrace, Json, Outcome, SpanRecord
from toolcrib.observe import child_of
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest
from toolcrib.sources.mcp.config.server import ServerCommand, ServerConfig
from toolcrib.sources.mcp.outcome import StartFailed

CANCELLED = "cancelled"

T = TypeVar("T")


async def traced_start(awake: Awaitable[T], context: CallContext, server: str) -> T:
    """Wait for the start of a server. Raises what that raises."""
    trace = context.trace
    if trace is None or trace.tell is None:
        return await awake
    at, began, code = time.time(), time.monotonic(), CANCELLED
    try:
        started = await awake
        code = ""
    except StartFailed as error:
        code = error.code
        raise
    except TimeoutError:
        code = "start_timeout"
        raise
    else:
        return started
    finally:
        own = child_of(trace.span)
        seconds = time.monotonic() - began
        trace.tell(SpanRecord("start", at, seconds, own, trace.span, trace.state, server, code))


async def traced_request(
    send: Callable[[UpstreamRequest, CallContext], Awaitable[Outcome]],
    request: UpstreamRequest,
    context: CallContext,
    config: ServerConfig,
) -> Outcome:
    """Send a request in a span of its own, if somebody follows."""
    trace = context.trace
    if trace is None or trace.tell is None:
        return await send(request, context)
    own = CallTrace(child_of(trace.span), trace.state, trace.tell)
    at, began, code = time.time(), time.monotonic(), CANCELLED
    try:
        outcome = await send(request, replace(context, trace=own))
        code = outcome.error.code if outcome.error else ""
        return outcome
    finally:
        seconds, facts = time.monotonic() - began, _facts(request, config)
        name = str(request.params.get("name", ""))
        trace.tell(
            SpanRecord("client", at, seconds, own.span, trace.span, trace.state, name, code, facts)
        )


def _facts(request: UpstreamRequest, config: ServerConfig) -> dict[str, Json]:
    is_process = isinstance(config.transport, ServerCommand)
    facts: dict[str, Json] = {
        "method": request.method,
        "server": config.id,
        "transport": "pipe" if is_process else "tcp",
    }
    if request.method == "prompts/get":
        facts["prompt"] = str(request.params.get("name", ""))
    return facts
