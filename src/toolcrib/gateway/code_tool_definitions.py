"""The fixed tools of the mode `code`: search, run, read on. Their bytes never change.

A test keeps them below 900 tokens.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast

from toolcrib.gateway.fixed_tool_definitions import FIXED_TOOLS, READS, RESULT
from toolcrib.model import JsonObject, ToolInfo
from toolcrib.session import CODE_SEARCH_TOOL, RUN_TOOL

RUN: Final = RUN_TOOL.name


def _with_proposal(parameters: JsonObject) -> JsonObject:
    """The arguments of a run, with one that proposes the program to the operator."""
    said = "If it should be kept as a tool: what it does. The operator decides."
    properties = cast("JsonObject", parameters["properties"])
    propose: JsonObject = {"type": "string", "description": said}
    return {**parameters, "properties": {**properties, "propose": propose}}


CODE_TOOLS: Final[Mapping[str, ToolInfo]] = {
    tool.name: tool
    for tool in (
        replace(CODE_SEARCH_TOOL, annotations=READS),
        replace(
            RUN_TOOL,
            annotations={"readOnlyHint": False, "destructiveHint": True},
            parameters=_with_proposal(RUN_TOOL.parameters),
        ),
        FIXED_TOOLS[RESULT],
    )
}
"""All of them by name, in the order in which they are listed."""
