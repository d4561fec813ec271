"""What one conversation sees: the tools it is shown, those it finds, and what that costs.

    catalog ──▶ make_plan ──▶ core: shown whole
                         └──▶ deferred ──tool_search──▶ revealed ──▶ call

A `Session` answers three questions of an adapter. Which tools go with the next request?
(`active_tools`: core, the search tool, what was revealed.) What comes of this call of the model?
(`call`: a search, a page of a long result, or a tool through the door.) What does the system prompt
say? (`system_note`, `deferred_summary`.)

    session           `Session`: the three answers
    policy            what the settings say of sessions: `Deferral`, `SessionOptions`
    deferral_plan     which tools wait for a search: `Deferral` in, `DeferralPlan` out
    prefetch          what the user's message shows before the model has to ask
    reveals           what a conversation has found so far, and how much one search may add
    search_tool       `tool_search`: its definition, and how its arguments are read
    code_tools        code mode: `tool_run`, and the search that answers with typed functions
    search_result     what a search gave, as text for a model, and read back from it
    deferred_summary  what a model is told of tools that it is not shown: note, summary, stubs
    result_page       how a model reads on in a long result
    accounting        what definitions cost in tokens, and what deferring saves
    host              what a session reaches of the crib, handed to it

A session is pure: no file, no clock, no network. What lasts (`Reveals`) and what is reached
(`Host`) is handed to it. It grants nothing: every call goes through the door of `execute`, and
past its gates.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.session.accounting import Prices, SourceTokens, TokenEstimate
    from toolcrib.session.code_tools import (
        CODE_SEARCH_TOOL,
        CODE_TOOLS,
        RUN_TOOL,
        RunRequest,
        calls_text,
        read_run,
        stub_text,
    )
    from toolcrib.session.deferral_plan import DeferralPlan
    from toolcrib.session.deferred_summary import DeferStyle, summarize_deferred
    from toolcrib.session.host import Host
    from toolcrib.session.policy import Deferral, SessionOptions
    from toolcrib.session.prefetch import Prefetch, PrefetchedNeed, UserMessage
    from toolcrib.session.result_page import begins_with_page_note, page_note
    from toolcrib.session.reveals import RequestReveals, Reveals
    from toolcrib.session.search_result import (
        CALLABLE_NOW,
        SearchResult,
        callable_text,
        remarks_in,
        revealed_in,
    )
    from toolcrib.session.search_tool import SEARCH_TOOL, SEARCH_TOOL_NAMES, define_search_tool
    from toolcrib.session.session import Session
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "accounting": ("Prices", "SourceTokens", "TokenEstimate"),
            "code_tools": (
                "CODE_SEARCH_TOOL",
                "CODE_TOOLS",
                "RUN_TOOL",
                "RunRequest",
                "calls_text",
                "read_run",
                "stub_text",
            ),
            "deferred_summary": ("DeferStyle", "summarize_deferred"),
            "host": ("Host",),
            "deferral_plan": ("DeferralPlan",),
            "policy": ("Deferral", "SessionOptions"),
            "prefetch": ("Prefetch", "PrefetchedNeed", "UserMessage"),
            "result_page": ("begins_with_page_note", "page_note"),
            "reveals": ("RequestReveals", "Reveals"),
            "search_result": (
                "CALLABLE_NOW",
                "SearchResult",
                "callable_text",
                "remarks_in",
                "revealed_in",
            ),
            "search_tool": ("SEARCH_TOOL", "SEARCH_TOOL_NAMES", "define_search_tool"),
            "session": ("Session",),
        },
    )
