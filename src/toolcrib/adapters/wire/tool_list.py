"""Tools as providers take them: how many, with which schema, in which groups.

A provider refuses keywords it does not know, a stranger's schema may have any keyword, and one
refused tool fails the whole request. So the schema that is sent may say less than the tool's own;
every call is checked against the tool's own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject, ToolInfo
from toolcrib.session import Session, UserMessage

ALTERNATIVES = ("allOf", "anyOf", "oneOf")
MOST_MEMBERS = 9
"""The provider's advice: fewer than ten functions in a namespace."""

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


def tools_within_limit(
    session: Session, most: int, found: Iterable[str | UserMessage]
) -> tuple[ToolInfo, ...]:
    """The active tools of a session, at most as many as the provider takes.

    Where there are more, those found longest ago are left out. `found` are names and messages in
    the order of the conversation; a tool that is found again is listed again. Raises `ConfigError`
    where the tools that are always shown are too many by themselves.
    """
    tools = session.active_tools()
    if len(tools) <= most:
        return tools
    stable = session.stable_tools()
    if len(stable) > most:
        message = (
            f"{len(stable)} tools are always shown, and the provider takes {most}: defer some"
            " (the settings tool_search, session.threshold, session.never_defer)"
        )
        raise ConfigError(message)
    last = {name: place for place, name in enumerate(_found_names(session, found), 1)}
    waiting = sorted(tools[len(stable) :], key=lambda tool: last.get(tool.name, 0), reverse=True)
    listed = {tool.name for tool in (*stable, *waiting[: most - len(stable)])}
    return tuple(tool for tool in tools if tool.name in listed)


def _found_names(session: Session, found: Iterable[str | UserMessage]) -> Iterator[str]:
    seen = list(found)
    shown = session.prefetched(each.text for each in seen if isinstance(each, UserMessage))
    for each in seen:
        if isinstance(each, UserMessage):
            yield from (tool.name for tool in shown.get(each.text, ()))
        else:
            yield each


def object_schema(schema: JsonObject) -> JsonObject:
    """The schema with `type: object` at its top, and without alternatives there.

    The properties of the alternatives stay, as optional ones.
    """
    if schema.get("type") == "object" and not any(each in schema for each in ALTERNATIVES):
        return schema if "properties" in schema else {**schema, "properties": {}}
    rest = {key: value for key, value in schema.items() if key not in ALTERNATIVES}
    return {**rest, "type": "object", "properties": _properties(schema)}


def _properties(schema: JsonObject) -> JsonObject:
    found: dict[str, Json] = {}
    for word in ALTERNATIVES:
        for each in cast("list[Json]", schema.get(word) or []):
            if isinstance(each, Mapping):
                found |= _properties(cast("JsonObject", each))
    own = schema.get("properties")
    return found | (dict(cast("JsonObject", own)) if isinstance(own, Mapping) else {})


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
    """The tools in namespaces, one for each source, as OpenAI's tool search loads them.

    A source with more than `MOST_MEMBERS` tools has several: `github`, `github_2` and so on.
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
    """The name of a tool's source, in characters that the API takes."""
    return _UNFIT.sub("_", tool.owner)[:48] or "tools"


def _parts(tools: Sequence[ToolInfo]) -> Iterator[Sequence[ToolInfo]]:
    for start in range(0, len(tools), MOST_MEMBERS):
        yield tools[start : start + MOST_MEMBERS]
