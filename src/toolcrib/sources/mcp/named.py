"""The tools of a listing by their own names: those that have a usable one, each name once."""

from collections.abc import Mapping
from typing import NamedTuple, TypeGuard

from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp.known import Listing

LONGEST_NAME = 128


class Named(NamedTuple):
    """Raw tools by name, in the server's order, and what was wrong with the others."""

    tools: Mapping[str, JsonObject]
    problems: tuple[str, ...]


def named(listing: Listing) -> Named:
    """Of two tools with one name, the first counts."""
    tools: dict[str, JsonObject] = {}
    problems: list[str] = []
    for raw in listing.tools:
        name = raw.get("name")
        if not _is_name(name):
            problems.append("a tool without a usable name is left out")
        elif tools.setdefault(name, raw) is not raw:
            problems.append(f"{name!r} is listed twice; the first counts")
    if not listing.complete:
        problems.append(f"its list was cut after {len(tools)} tools")
    return Named(tools, tuple(problems))


def _is_name(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()
