"""Tools as the Responses API takes them: functions, in namespaces where they are deferred.

A deferred function on its own still shows its name and description; a namespace hides its members.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, cast

from openai.types.responses import FunctionToolParam, NamespaceToolParam, ToolSearchToolParam
from openai.types.responses.namespace_tool_param import ToolFunction

from toolcrib.adapters.wire.schemas import object_schema
from toolcrib.model import ToolInfo

MOST_MEMBERS = 9
"""The provider's advice: fewer than ten functions in a namespace."""

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


def function(tool: ToolInfo) -> FunctionToolParam:
    """A tool as a function of its own."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": cast("dict[str, object]", object_schema(tool.parameters)),
        "strict": False,  # strictness would make every parameter a required one
    }


def search_tool(tool: ToolInfo, by: Literal["client", "server"]) -> ToolSearchToolParam:
    """The search tool of the API; its own, or one that is answered by the client."""
    if by == "server":
        return {"type": "tool_search"}
    return {
        "type": "tool_search",
        "execution": "client",
        "description": tool.description,
        "parameters": tool.parameters,
    }


def namespaces(tools: Iterable[ToolInfo]) -> list[NamespaceToolParam]:
    """The tools as deferred functions, in a namespace a source, in the order in which they come.

    A source with more than `MOST_MEMBERS` tools has several, `github`, `github_2` and on.
    """
    groups: dict[str, list[ToolInfo]] = {}
    for tool in tools:
        groups.setdefault(namespace_of(tool), []).append(tool)
    return [
        _namespace(name if place == 1 else f"{name}_{place}", name, members)
        for name, group in groups.items()
        for place, members in enumerate(_parts(group), 1)
    ]


def namespace_of(tool: ToolInfo) -> str:
    """A name for where a tool comes from that the API takes."""
    return _UNFIT.sub("_", tool.source_id or tool.source)[:48] or "tools"


def _parts(tools: Sequence[ToolInfo]) -> Iterator[Sequence[ToolInfo]]:
    for start in range(0, len(tools), MOST_MEMBERS):
        yield tools[start : start + MOST_MEMBERS]


def _namespace(name: str, source: str, tools: Sequence[ToolInfo]) -> NamespaceToolParam:
    listed = ", ".join(tool.name for tool in tools)
    return {
        "type": "namespace",
        "name": name,
        "description": f"Tools of {source}: {listed}",
        "tools": [_member(tool) for tool in tools],
    }


def _member(tool: ToolInfo) -> ToolFunction:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": object_schema(tool.parameters),
        "strict": False,
        "defer_loading": True,
    }
