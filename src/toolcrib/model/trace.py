"""Traces: which span something belongs to, as W3C Trace Context writes it. No I/O, no chance.

    00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01      a `traceparent`
       └── the trace ──────────────────┘└── the span ───┘ └ 01: it is sampled

Here it is a text of exactly this shape, or "" where there is none. A span is made of a `SpanRecord`
when it is over.
"""

import re
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from toolcrib.model.capability import JsonObject

LENGTH = 55
LONGEST_STATE = 512

_TRACEPARENT: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?"
)


def read_traceparent(given: object) -> str:
    """The text of a client in our shape; "" if it is none, as the standard wants it."""
    found = _TRACEPARENT.fullmatch(given) if isinstance(given, str) else None
    if not found or (found[0].startswith("00") and len(found[0]) > LENGTH):
        return ""
    return f"00-{found[1]}-{found[2]}-{int(found[3], 16) & 1:02x}"


def read_tracestate(given: object) -> str:
    """What other tracers say of a trace, to be handed on; "" if it is too long, or no plain text.

    Some of it would be worse than nothing: it is signed by nobody, and cut in the middle.
    """
    if not isinstance(given, str) or len(given) > LONGEST_STATE:
        return ""
    return given if given.isascii() and given.isprintable() else ""


def trace_id(traceparent: str) -> str:
    """The trace, by which one finds it; "" of none."""
    return traceparent[3:35]


def span_id(traceparent: str) -> str:
    """The span; "" of none."""
    return traceparent[36:52]


def is_sampled(traceparent: str) -> bool:
    """Whether whoever began the trace wants its spans."""
    return traceparent.endswith("1")


SpanRole = Literal["server", "retrieval", "execute", "start", "client"]
"""What a span is of: a request that was served, a search, a call at the door, the start of an MCP
server for a call, a request that was sent to one."""


class SpanRecord(NamedTuple):
    """Something that is over, of which a span is made. `at` is in seconds since the epoch.

    `own` is its span, `parent` that of whoever asked for it. `name` is the tool, the prompt or the
    server that it is about. `code` is empty where all went well. `facts` are small; what a query, a
    call or a result says is among them only if the operator wants it sent.
    """

    role: SpanRole
    at: float
    seconds: float
    own: str
    parent: str = ""
    state: str = ""
    name: str = ""
    code: str = ""
    facts: JsonObject = {}  # noqa: RUF012 - nobody changes it


TellSpan = Callable[[SpanRecord | Callable[[], SpanRecord]], None]
"""Takes a span that is over, or what makes it; never waits and never fails."""
