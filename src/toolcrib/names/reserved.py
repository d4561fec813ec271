"""Names that Toolcrib shows to models itself: no other tool may have one of them.

Names with a prefix (`mcp_github_tool_search`) are none of these: only what keeps its bare name can
come into the way.
"""

from typing import Final

RESERVED: Final = frozenset(
    """
    tool_search search_capability call_tool
    tool_describe tool_call_read tool_call tool_result
    tool_search_tool_bm25 tool_search_tool_regex
    """.split()
)
"""The search tool and its other name, the proxy tool, the gateway's tools, Anthropic's search."""


def told_reserved(name: str) -> str:
    """Why a tool cannot have this name, and what to do."""
    return f"{name!r} is the name of a tool of Toolcrib's own; give this one another name"
