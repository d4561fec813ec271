"""The nouns that every stage hands to the next: frozen values, no I/O.

    sources give Capabilities → the pool makes Entries of them → a Query becomes Variants
    → the arms give Matches → a search gives an Answer of Hits
    → a Call runs in a CallContext → and ends as an Outcome

`capability`  what can be searched: `ToolInfo`, `SkillInfo`, `AgentInfo`
`entry`       `Entry`: one of them in the pool, with its name, its state and what to do about that
`groups`      entries in groups of like ones, so that nobody looks at each of many
`search`      what a search takes and gives
`call`        what a call takes and gives; what a tool may ask and say while it runs
`event`       `Event`: one thing that happened
`trace`       which span something belongs to, and what a span is made of
`deadline`    how long a call has: one for all who work on it
`session`     when the tools of a session wait for a search or are shown unasked, and how long a
              conversation is

Every other package imports from here, and this one imports nothing of ours. That is why the list
of names is long: it is the vocabulary of the whole tree. What belongs to one package alone is
defined there (a `Ticket` in `execute`, a `Decision` in `store`), and so are errors: see
`toolcrib.errors`. Nothing here reads a file or the environment, and nothing here changes once it is
made: use `dataclasses.replace`. The one exception is `Deadline`: time goes on.

A value that comes from outside (a tool of an MCP server, a row of a file, the reply of a model)
becomes one of these where it comes in. So whoever holds one does not check it again.
"""

from toolcrib.model.call import (
    Call,
    CallContext,
    CallError,
    Effect,
    InputHandler,
    InputMethod,
    InputRequest,
    LogHandler,
    Outcome,
    Page,
    Phase,
    ProgressHandler,
    RootsOf,
    log_nowhere,
)
from toolcrib.model.capability import (
    CALLABLE_STATES,
    AgentInfo,
    Capability,
    Defer,
    Json,
    JsonObject,
    Kind,
    NamedBy,
    PermissionKind,
    SkillInfo,
    SourceKind,
    State,
    ToolInfo,
)
from toolcrib.model.deadline import Deadline
from toolcrib.model.entry import Entry
from toolcrib.model.event import FINE_CODES, NO_ORIGIN, Event, EventKind, EventOrigin
from toolcrib.model.groups import EntryGroups, EntryTraits, with_name, without_name
from toolcrib.model.search import (
    ASKS,
    EXCLUDE_NOTHING,
    Answer,
    Confidence,
    Hit,
    Match,
    NameFilter,
    Query,
    Ranking,
    UnavailableServer,
    Variant,
    matches,
)
from toolcrib.model.session import ConversationTokens, DeferralTrigger, PrefetchMode
from toolcrib.model.trace import (
    SpanRecord,
    SpanRole,
    TellSpan,
    is_sampled,
    read_traceparent,
    read_tracestate,
    span_id,
    trace_id,
)

__all__ = [
    "ASKS",
    "CALLABLE_STATES",
    "EXCLUDE_NOTHING",
    "FINE_CODES",
    "NO_ORIGIN",
    "AgentInfo",
    "Answer",
    "Call",
    "CallContext",
    "CallError",
    "Capability",
    "Confidence",
    "ConversationTokens",
    "Deadline",
    "Defer",
    "DeferralTrigger",
    "Effect",
    "Entry",
    "EntryGroups",
    "EntryTraits",
    "Event",
    "EventKind",
    "EventOrigin",
    "Hit",
    "InputHandler",
    "InputMethod",
    "InputRequest",
    "Json",
    "JsonObject",
    "Kind",
    "LogHandler",
    "Match",
    "NameFilter",
    "NamedBy",
    "Outcome",
    "Page",
    "PermissionKind",
    "Phase",
    "PrefetchMode",
    "ProgressHandler",
    "Query",
    "Ranking",
    "RootsOf",
    "SkillInfo",
    "SourceKind",
    "SpanRecord",
    "SpanRole",
    "State",
    "TellSpan",
    "ToolInfo",
    "UnavailableServer",
    "Variant",
    "is_sampled",
    "log_nowhere",
    "matches",
    "read_traceparent",
    "read_tracestate",
    "span_id",
    "trace_id",
    "with_name",
    "without_name",
]
