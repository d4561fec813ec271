"""Tools as providers take them: so many, with such a schema, in such groups.

A provider refuses what it does not know, a stranger's schema may hold anything, and one refused
tool fails the whole request. So what is sent says less than the tool's own schema where it must:
the door checks every call against the tool's own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject, ToolInfo
from toolcrib.session import Session


def tools_within_limit(session: Session, most: int, found: Iterable[str]) -> tuple[ToolInfo, ...]:
    """The active tools of a session, of which the provider takes so many.

    Where they are more, those that were found longest ago are left out: `found` are the names in
    the order of the conversation, and one that is found again comes into sight again. Raises
    `ConfigError` where those that are always shown are too many by themselves.
    """
    tools = session.active_tools()
    if len(tools) <= most:
        return tools
    stable = session.stable_tools()
    if len(stable) > most:
        message = (
            f"{len(stable)} tools are always shown, and the provider takes {most}: let them wait"
            " for a search (the settings tool_search, session.threshold, session.never_defer)"
        )
        raise ConfigError(message)
    last = {name: place for place, name in enumerate(found, 1)}
    waiting = sorted(tools[len(stable) :], key=lambda tool: last.get(tool.name, 0), reverse=True)
    kept = {tool.name for tool in (*stable, *waiting[: most - len(stable)])}
    return tuple(tool for tool in tools if tool.name in kept)


# Schemas as providers take them.

ALTERNATIVES = ("allOf", "anyOf", "oneOf")


def object_schema(schema: JsonObject) -> JsonObject:
    """A schema that is an object's at the top, without alternatives there.

    What the alternatives name as properties is kept, as what may be left out.
    """
    if schema.get("type") == "object" and not any(each in schema for each in ALTERNATIVES):
        return schema if "properties" in schema else {**schema, "properties": {}}
    kept = {key: value for key, value in schema.items() if key not in ALTERNATIVES}
    return {**kept, "type": "object", "properties": _properties(schema)}


def _properties(schema: JsonObject) -> JsonObject:
    found: dict[str, Json] = {}
    for word in ALTERNATIVES:
        for each in cast("list[Json]", schema.get(word) or []):
            if isinstance(each, Mapping):
                found |= _properties(cast("JsonObject", each))
    own = schema.get("properties")
    return found | (dict(cast("JsonObject", own)) if isinstance(own, Mapping) else {})


# Tools in groups, as OpenAI's tool search loads them.

MOST_MEMBERS = 9
"""The provider's advice: fewer than ten functions in a namespace."""

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Namespace:
    """Some tools of one source. The description names them: a model chooses by it."""

    name: str
    description: str
    tools: tuple[ToolInfo, ...]

    @classmethod
    def of(cls, name: str, source: str, tools: Sequence[ToolInfo]) -> "Namespace":
        """These tools of a source, under a name."""
        listed = ", ".join(tool.name for tool in tools)
        return cls(name, f"Tools of {source}: {listed}", tuple(tools))


def group_in_namespaces(tools: Iterable[ToolInfo]) -> list[Namespace]:
    """The tools in a namespace a source, in the order in which they come.

    A source with more than `MOST_MEMBERS` tools has several, `github`, `github_2` and on.
    """
    groups: dict[str, list[ToolInfo]] = {}
    for tool in tools:
        groups.setdefault(namespace_name(tool), []).append(tool)
    return [
        Namespace.of(name if place == 1 else f"{name}_{place}", name, members)
        for name, group in groups.items()
        for place, members in enumerate(_parts(group), 1)
    ]


def namespace_name(tool: ToolInfo) -> str:
    """A name for where a tool comes from that the API takes."""
    return _UNFIT.sub("_", tool.owner)[:48] or "tools"


def _parts(tools: Sequence[ToolInfo]) -> Iterator[Sequence[ToolInfo]]:
    for start in range(0, len(tools), MOST_MEMBERS):
        yield tools[start : start + MOST_MEMBERS]
