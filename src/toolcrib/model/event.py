"""`Event`: one thing that happened, as the log of events keeps it. Frozen, no I/O.

kind        name        code                              seconds
search      -           nothing_found                     how long it took
call        the tool    that of the error                 the same
list        -           -                                 the same
reveal      -           -                                 -
program     -           that of the error                 the same
approval    the tool    asked, allowed, denied, expired   -
definition  the tool    changed, unreviewed, approved,    -
                        rejected
server      -           started, stopped, crashed, or     of the start, or how long it was up
                        why it did not start
client      -           connected, left                   how long it was there
"""

from typing import Final, Literal, NamedTuple

from toolcrib.model.capability import JsonObject

EventKind = Literal[
    "search",
    "call",
    "program",
    "list",
    "reveal",
    "approval",
    "definition",
    "server",
    "client",
]

FINE_CODES: Final = frozenset(
    {"", "asked", "allowed", "approved", "rejected", "started", "stopped", "connected", "left"}
)
"""The codes of events that went well, or are nobody's fault."""


class EventOrigin(NamedTuple):
    """Where a request came from, for events alone: nothing is decided by it.

    `client` is what an MCP client calls itself, `conversation` names a conversation without giving
    access to it. `trace` is the `traceparent` of whoever asks, by W3C Trace Context, and
    `trace_state` the `tracestate` that came with it.
    """

    client: str = ""
    conversation: str = ""
    trace: str = ""
    trace_state: str = ""


NO_ORIGIN: Final = EventOrigin()


class Event(NamedTuple):
    """One thing that happened. `at` is in seconds since the epoch; `caller` is verified.

    `server` is the MCP server or the app that it is about. `code` is empty where all went well.
    `facts` is small, and has neither arguments nor results. `query` is the text of a search: it
    stays in memory unless the operator keeps queries. `trace` is the id of the trace that it is
    part of.
    """

    at: float
    kind: EventKind
    caller: str = ""
    client: str = ""
    conversation: str = ""
    name: str = ""
    server: str = ""
    seconds: float = 0.0
    code: str = ""
    trace: str = ""
    facts: JsonObject = {}  # noqa: RUF012 - nobody changes it
    query: str = ""
