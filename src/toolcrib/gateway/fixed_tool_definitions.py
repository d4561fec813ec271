"""The fixed tools: what every principal is shown in place of all others.

Their bytes never change, so that a host's prompt cache holds; a test keeps them below 1,200 tokens.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from toolcrib.model import JsonObject, ToolInfo
from toolcrib.session import SEARCH_TOOL, define_search_tool

SEARCH: Final = SEARCH_TOOL.name
DESCRIBE: Final = "tool_describe"
CALL_READ: Final = "tool_call_read"
CALL: Final = "tool_call"
RESULT: Final = "tool_result"

MOST_QUERIES = 5
MOST_NAMES = 10

ALWAYS_LOAD: Final = {"anthropic/alwaysLoad": True}
"""For hosts that defer tools by themselves: one that finds tools is not to be looked for."""

READS: JsonObject = {"readOnlyHint": True, "openWorldHint": False}
_SET: JsonObject = {"type": "string", "description": "A `set` that a search returned."}
_NAME: JsonObject = {"type": "string", "description": "The tool's name, as a search gave it."}
_ARGUMENTS: JsonObject = {
    "type": "object",
    "description": "Arguments that fit its parameters.",
    "additionalProperties": True,
}
_CALLED: JsonObject = {
    "type": "object",
    "properties": {"name": _NAME, "arguments": _ARGUMENTS, "set": _SET},
    "required": ["name", "arguments"],
    "additionalProperties": False,
}


def _fixed(
    name: str, description: str, annotations: JsonObject, parameters: JsonObject
) -> ToolInfo:
    return ToolInfo(
        name=name,
        description=description,
        permission_kind="read",
        searchable=False,
        defer="never",
        required=True,
        pin=name,
        annotations=annotations,
        parameters=parameters,
    )


_SEARCH_TOOL = replace(
    define_search_tool(
        "; there are many more than you see. Search before you say that something cannot be done,"
        " and before you use a shell for it.",
        "Answers give signatures, full parameters of the best, states with what to do about them,"
        f" and a `set` that names what was found. Then call `{CALL_READ}` for what is marked"
        f" [read], `{CALL}` for all else.",
        queries=f"What you need, in any language; at most {MOST_QUERIES}. None shows what there is,"
        " or what is in the `set`.",
        set={
            "type": "string",
            "description": "A `set` of an earlier search, to add what is found to it.",
        },
    ),
    annotations=READS,
)
_DESCRIBE_TOOL = _fixed(
    DESCRIBE,
    (
        "All about tools, skills or agents by name: full parameters, state and what to do about it,"
        " where it comes from, what it is often used with; of a skill, its text."
    ),
    READS,
    {
        "type": "object",
        "properties": {
            "names": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "description": f"At most {MOST_NAMES}.",
            }
        },
        "required": ["names"],
        "additionalProperties": False,
    },
)
_CALL_READ_TOOL = _fixed(
    CALL_READ,
    (
        f"Call a tool that `{SEARCH}` found and marked [read]. It changes nothing; any other tool"
        " is refused."
    ),
    {"readOnlyHint": True},
    _CALLED,
)
_CALL_TOOL = _fixed(
    CALL,
    (
        f"Call any tool that `{SEARCH}` found. It may change things, and a person may have to"
        " approve it first. If the arguments do not fit, the error has the full parameters."
    ),
    {"readOnlyHint": False, "destructiveHint": True},
    _CALLED,
)
_RESULT_TOOL = _fixed(
    RESULT,
    "A page of a long result, or its lines that have some words, numbered, with lines around them.",
    READS,
    {
        "type": "object",
        "properties": {
            "handle": {"type": "string", "description": "As the first page gave it."},
            "page": {"type": "integer", "minimum": 1, "description": "From 1."},
            "find": {"type": "string", "description": "Words to find in it, or a `/pattern/`."},
        },
        "required": ["handle"],
        "additionalProperties": False,
    },
)

FIXED_TOOLS: Final[Mapping[str, ToolInfo]] = {
    tool.name: tool
    for tool in (_SEARCH_TOOL, _DESCRIBE_TOOL, _CALL_READ_TOOL, _CALL_TOOL, _RESULT_TOOL)
}
"""All of them by name, in the order in which they are listed."""
