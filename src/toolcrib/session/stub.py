"""A tool that is listed without its parameters, and says how to get them."""

import json
from dataclasses import replace
from typing import Literal

from toolcrib.model import JsonObject, ToolInfo
from toolcrib.session.search_tool import NAME

Style = Literal["hidden", "stub"]

SCHEMA: JsonObject = {"type": "object", "description": f"Call {NAME} first."}


def stub(tool: ToolInfo) -> ToolInfo:
    """The tool without its parameters."""
    return replace(tool, parameters=SCHEMA, pin="")


def is_smaller_than_stub(tool: ToolInfo) -> bool:
    """Whether its own parameters take no more room than a stub's: then a stub saves nothing."""
    return len(json.dumps(tool.parameters)) <= len(json.dumps(SCHEMA))
