"""The ranking of a crib, for the `ToolSearch` capability of pydantic-ai."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.tools import ToolDefinition

from toolcrib.adapters.pydantic_ai.conversation import Sessions, session_for

Strategy = Callable[[RunContext[Any], Sequence[str], Sequence[ToolDefinition]], Sequence[str]]


def toolcrib_search(sessions: Sessions) -> Strategy:
    """A search strategy: `ToolSearch(strategy=toolcrib_search(crib))`.

    It finds the tools of a `ToolcribToolset` with `deferred=True`, and no other deferred tools: an
    agent that has such tools besides has no use for it.
    """

    def search(
        context: RunContext[Any], queries: Sequence[str], tools: Sequence[ToolDefinition]
    ) -> list[str]:
        """The names of what fits best, best first."""
        offered = {tool.name for tool in tools}
        found = session_for(sessions, context.deps).search(queries=queries)
        return [tool.name for tool in found.tools if tool.name in offered]

    return search
