"""Toolcrib: a huge library of tools for any agent, and only the few it needs in sight.

    sources list capabilities → the pool names them once each → the index looks them up three ways
    → search fuses, cuts and explains → the agent gets a short ranked list
    → what it calls goes through one door

Start with `Crib`. What `__all__` names is promised, and so is every type that a promised signature
speaks of; docs/api.md has them all. Errors are in `toolcrib.errors`, the sections of `Settings` in
`toolcrib.settings`, programs that register tools begin at `toolcrib.app`, and each provider or
framework has a module in `toolcrib.adapters`. Anything else may move tomorrow.

A name is loaded when it is first asked for, so that the parts which need none of them, like the
shim that MCP clients launch, are there at once.
"""

from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.access import Scope
    from toolcrib.crib import Crib, CribIndex, Operator
    from toolcrib.embed import Embedder
    from toolcrib.errors import ToolcribError
    from toolcrib.execute import (
        ApprovalRequest,
        Approver,
        Caller,
        Ticket,
        Tickets,
        per_request_tools,
    )
    from toolcrib.model import (
        AgentInfo,
        Answer,
        Call,
        CallContext,
        CallError,
        Capability,
        Deadline,
        Entry,
        EventOrigin,
        Hit,
        InputRequest,
        Outcome,
        Page,
        SkillInfo,
        ToolInfo,
        UnavailableServer,
    )
    from toolcrib.pool import ToolsUpdated
    from toolcrib.program import (
        ProgramCall,
        ProgramCheck,
        ProgramLimits,
        ProgramOutcome,
        ProgramProblem,
        ProgramTool,
    )
    from toolcrib.search import Explanation, Wording
    from toolcrib.session import (
        Prefetch,
        PrefetchedNeed,
        SearchResult,
        Session,
        SourceTokens,
        TokenEstimate,
        UserMessage,
        revealed_in,
    )
    from toolcrib.settings import Settings, load_settings
    from toolcrib.sources import Source, ToolFacts, tool
    from toolcrib.sources.mcp import OfferedItem, Offers, RefreshResult, ServerEntry
    from toolcrib.uses import UseHints
else:
    __getattr__, __dir__, _ = lazy_names(
        __name__,
        {
            "access": ("Scope",),
            "crib": ("Crib", "CribIndex", "Operator"),
            "embed": ("Embedder",),
            "errors": ("ToolcribError",),
            "execute": (
                "ApprovalRequest",
                "Approver",
                "Caller",
                "Ticket",
                "Tickets",
                "per_request_tools",
            ),
            "model": (
                "AgentInfo",
                "Answer",
                "Call",
                "CallContext",
                "CallError",
                "Capability",
                "Deadline",
                "Entry",
                "EventOrigin",
                "Hit",
                "InputRequest",
                "Outcome",
                "Page",
                "SkillInfo",
                "ToolInfo",
                "UnavailableServer",
            ),
            "pool": ("ToolsUpdated",),
            "program": (
                "ProgramCall",
                "ProgramCheck",
                "ProgramLimits",
                "ProgramOutcome",
                "ProgramProblem",
                "ProgramTool",
            ),
            "search": ("Explanation", "Wording"),
            "session": (
                "Prefetch",
                "PrefetchedNeed",
                "SearchResult",
                "Session",
                "SourceTokens",
                "TokenEstimate",
                "UserMessage",
                "revealed_in",
            ),
            "settings": ("Settings", "load_settings"),
            "sources": ("Source", "ToolFacts", "tool"),
            "sources.mcp": ("OfferedItem", "Offers", "RefreshResult", "ServerEntry"),
            "uses": ("UseHints",),
        },
    )

__all__ = [
    "AgentInfo",
    "Answer",
    "ApprovalRequest",
    "Approver",
    "Call",
    "CallContext",
    "CallError",
    "Caller",
    "Capability",
    "Crib",
    "CribIndex",
    "Deadline",
    "Embedder",
    "Entry",
    "EventOrigin",
    "Explanation",
    "Hit",
    "InputRequest",
    "OfferedItem",
    "Offers",
    "Operator",
    "Outcome",
    "Page",
    "Prefetch",
    "PrefetchedNeed",
    "ProgramCall",
    "ProgramCheck",
    "ProgramLimits",
    "ProgramOutcome",
    "ProgramProblem",
    "ProgramTool",
    "RefreshResult",
    "Scope",
    "SearchResult",
    "ServerEntry",
    "Session",
    "Settings",
    "SkillInfo",
    "Source",
    "SourceTokens",
    "Ticket",
    "Tickets",
    "TokenEstimate",
    "ToolFacts",
    "ToolInfo",
    "ToolcribError",
    "ToolsUpdated",
    "UnavailableServer",
    "UseHints",
    "UserMessage",
    "Wording",
    "load_settings",
    "per_request_tools",
    "revealed_in",
    "tool",
]
