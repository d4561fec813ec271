"""The spans of what a call waits for at a server: its start, and the request itself.

The id of a request's span is made before it is sent: it goes along in `_meta`, so that the server
goes on with the trace.
"""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from toolcrib.model import CallContext, Json, SpanRecord, TellSpan
from toolcrib.observe import child_of
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest
from toolcrib.sources.mcp.config.server import ServerCommand, ServerConfig
from toolcrib.sources.mcp.outcome import StartFailed

CANCELLED = "cancelled"


class UpstreamSpan:
    """A span that is open. `context` is that of whatever is done in it; `code` is how it ended."""

    def __init__(self, context: CallContext) -> None:
        self._parent = context.trace
        self.context = replace(context, trace=child_of(context.trace))
        self.code = CANCELLED
        self._at, self._began = time.time(), time.monotonic()

    def started(self, server: str) -> SpanRecord:
        """A server was started in it, or was not."""
        own, state, seconds = self.context.trace, self.context.trace_state, self._seconds
        return SpanRecord("start", self._at, seconds, own, self._parent, state, server, self.code)

    def sent(self, request: UpstreamRequest, config: ServerConfig) -> SpanRecord:
        """A request was sent in it."""
        own, state, seconds = self.context.trace, self.context.trace_state, self._seconds
        name, facts = str(request.params.get("name", "")), _facts(request, config)
        place = own, self._parent, state
        return SpanRecord("client", self._at, seconds, *place, name, self.code, facts)

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._began


@contextmanager
def start_span(tell: TellSpan | None, context: CallContext, server: str) -> Generator[None]:
    """While a call waits for the start of a server."""
    if tell is None:
        yield
        return
    span = UpstreamSpan(context)
    try:
        yield
        span.code = ""
    except StartFailed as error:
        span.code = error.code
        raise
    except TimeoutError:
        span.code = "start_timeout"
        raise
    finally:
        tell(span.started(server))


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
