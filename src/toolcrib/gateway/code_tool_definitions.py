"""The fixed tools of the mode `code`: search, run, read on. Their bytes never change.

A test keeps them below 900 tokens.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from toolcrib.gateway.fixed_tool_definitions import FIXED_TOOLS, READS, RESULT
from toolcrib.model import ToolInfo
from toolcrib.session import CODE_SEARCH_TOOL, RUN_TOOL

RUN: Final = RUN_TOOL.name

CODE_TOOLS: Final[Mapping[str, ToolInfo]] = {
    tool.name: tool
    for tool in (
        replace(CODE_SEARCH_TOOL, annotations=READS),
        replace(RUN_TOOL, annotations={"readOnlyHint": False, "destructiveHint": True}),
        FIXED_TOOLS[RESULT],
    )
}
"""All of them by name, in the order in which they are listed."""
