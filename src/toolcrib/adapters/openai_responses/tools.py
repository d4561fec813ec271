"""Tools as the Responses API takes them: functions, in namespaces where they are deferred.

A deferred function on its own still shows its name and description; a namespace hides its members.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, cast

from openai.types.responses import FunctionToolParam, NamespaceToolParam, ToolSearchToolParam
from openai.types.responses.namespace_tool_param import ToolFunction

from toolcrib.adapters.wire.tool_list import Namespace, group_in_namespaces, object_schema
from toolcrib.model import ToolInfo


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
    """The tools as deferred functions, in namespaces."""
    return [_namespace(each) for each in group_in_namespaces(tools)]


def namespace(name: str, tools: Sequence[ToolInfo]) -> NamespaceToolParam:
    """The tools as deferred functions, in a namespace of this name."""
    return _namespace(Namespace.of(name, name, tools))


def _namespace(group: Namespace) -> NamespaceToolParam:
    return {
        "type": "namespace",
        "name": group.name,
        "description": group.description,
        "tools": [_member(tool) for tool in group.tools],
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
