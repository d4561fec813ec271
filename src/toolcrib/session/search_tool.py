"""The search tool `tool_search`: the one tool that a model needs to find all the others.

Sessions and the gateway have the same tool: one name, one way to write queries. What a model does
with what was found differs, so each adds its own first and last sentence and parameters of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from toolcrib.model import Json, JsonObject, Kind, ToolInfo

SEARCH_TOOL_NAME: Final = "tool_search"
SEARCH_TOOL_ALIAS: Final = "search_capability"
RUN_TOOL_NAME: Final = "tool_run"
SEARCH_TOOL_NAMES: Final = frozenset({SEARCH_TOOL_NAME, SEARCH_TOOL_ALIAS})
MOST_QUERIES = 8

_FINDS = "Find tools, skills and agents that are not listed"
_HOW_TO_ASK = (
    'Write a query as verb and object, then the domain: "create issue, github". Several needs are'
    " several `queries` of one call. `select:name_a,name_b` takes tools by name, `+slack send`"
    " wants slack in the name, `/create.*issue/` is a pattern."
)
_LIMIT: JsonObject = {"type": "integer", "minimum": 1, "description": "Most hits a query."}
_KINDS: JsonObject = {
    "type": "array",
    "items": {"type": "string", "enum": ["tool", "skill", "agent"]},
    "description": "Only these.",
}


def define_search_tool(
    first: str,
    last: str,
    *,
    query: str = "",
    queries: str,
    narrows: bool = True,
    **others: Json,
) -> ToolInfo:
    """The search tool of one surface.

    `first` goes on from "Find tools, skills and agents that are not listed"; `last` says what to do
    with what was found. `query` and `queries` describe these parameters; without a description
    there is no `query`. `narrows`: there are `limit` and `kinds`. `others` are the parameters that
    this surface alone has.
    """
    one: JsonObject = {"query": {"type": "string", "description": query}} if query else {}
    several: Json = {"type": "array", "items": {"type": "string"}, "description": queries}
    narrowing: JsonObject = {"limit": _LIMIT, "kinds": _KINDS} if narrows else {}
    return ToolInfo(
        name=SEARCH_TOOL_NAME,
        description=f"{_FINDS}{first} {_HOW_TO_ASK} {last}",
        permission_kind="read",
        category="search",
        searchable=False,
        defer="never",
        required=True,
        pin=SEARCH_TOOL_NAME,
        parameters={
            "type": "object",
            "properties": {**one, "queries": several, **narrowing, **others},
            "additionalProperties": False,
        },
    )


SEARCH_TOOL: Final = define_search_tool(
    ". What is found can be called from your next step on.",
    "A skill or an agent is not called: `read` gives its text.",
    query="What you need, in any language.",
    queries="Several needs.",
    read={
        "type": "string",
        "description": "A skill or agent by name; `name/path` is a file of a skill.",
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
    each_once = dict.fromkeys(([] if query is None else [query]) + [*queries])
    return tuple(each_once)[:MOST_QUERIES] or ("",)
