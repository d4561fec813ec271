"""The search tool: the one tool that a model needs to find all the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from toolcrib.model import JsonObject, Kind, ToolInfo

SEARCH_TOOL_NAME: Final = "tool_search"
SEARCH_TOOL_ALIAS: Final = "search_capability"
SEARCH_TOOL_NAMES: Final = frozenset({SEARCH_TOOL_NAME, SEARCH_TOOL_ALIAS})
MOST_QUERIES = 8

SEARCH_TOOL: Final = ToolInfo(
    name=SEARCH_TOOL_NAME,
    description=(
        "Find tools, skills and agents that are not listed. What is found can be called from your"
        ' next step on. Write a query as verb and object, then the domain: "create issue, github".'
        " Several needs are several `queries` of one call. `select:name_a,name_b` takes tools by"
        " name, `+slack send` wants slack in the name, `/create.*issue/` is a pattern. A skill or"
        " an agent is not called: `read` gives its text."
    ),
    permission_kind="read",
    category="search",
    searchable=False,
    defer="never",
    required=True,
    pin="tool_search",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What you need, in any language."},
            "queries": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Several needs.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "description": "Most hits a query.",
            },
            "kinds": {
                "type": "array",
                "items": {"type": "string", "enum": ["tool", "skill", "agent"]},
                "description": "Only these.",
            },
            "read": {
                "type": "string",
                "description": "A skill or agent by name; `name/path` is a file of a skill.",
            },
        },
        "additionalProperties": False,
    },
)
"""The same for every session: its bytes are part of what a provider caches."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What a model asks the search tool for: to search, or to read what is no tool."""

    queries: tuple[str, ...]
    limit: int | None
    kinds: frozenset[Kind]
    read: str = ""


def read_request(arguments: JsonObject) -> SearchRequest:
    """The arguments of the search tool, which fit its schema. No query at all means to browse."""
    query = cast("str | None", arguments.get("query"))
    queries = cast("list[str]", arguments.get("queries", []))
    limit = cast("int | None", arguments.get("limit"))
    return SearchRequest(
        all_queries(query, queries),
        None if limit is None else int(limit),
        frozenset(cast("list[Kind]", arguments.get("kinds", []))),
        cast("str", arguments.get("read", "")),
    )


def all_queries(query: str | None, queries: Sequence[str]) -> tuple[str, ...]:
    """Each once, in order; the empty one, which browses, if there is none."""
    asked = dict.fromkeys(([] if query is None else [query]) + [*queries])
    return tuple(asked)[:MOST_QUERIES] or ("",)
