"""A tool as a stranger defines it: pinned, searched for hidden text, and given a permission kind.

`Definition` is all of it, as it is approved and compared. What a model is shown has nothing hidden
in it (`clean_tool`, `clean_file`, `clean_json`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from toolcrib.model import AgentInfo, Json, JsonObject, PermissionKind, SkillInfo, ToolInfo
from toolcrib.strict_json import canonical_json, json_digest
from toolcrib.text import find_hidden, without_hidden

# Looks through all texts of a definition for what is hidden in them, and takes it out.

C = TypeVar("C", SkillInfo, AgentInfo)

_READ = ("name", "description", "category", "tags", "often_with", "body", "skills", "url")
"""What is read from the file of a skill or an agent."""


def flags_of(*values: Json) -> tuple[str, ...]:
    """The tricks that are used anywhere in these values, names of keys included."""
    found = (finding for text in _texts(values) for finding in find_hidden(text))
    return tuple(sorted({finding.trick for finding in found}))


def clean_tool(tool: ToolInfo, pin: str, flags: tuple[str, ...]) -> ToolInfo:
    """The tool with this pin and these flags, and nothing hidden in what a model is shown."""
    if not flags:
        return replace(tool, pin=pin)
    return replace(
        tool,
        description=without_hidden(tool.description),
        title=without_hidden(tool.title),
        search_hint=without_hidden(tool.search_hint),
        parameters=clean_json(tool.parameters),
        output_schema=tool.output_schema and clean_json(tool.output_schema),
        annotations=clean_json(tool.annotations),
        meta=clean_json(tool.meta),
        flags=flags,
        pin=pin,
    )


def clean_file(found: C) -> C:
    """The skill or agent with its flags, and nothing hidden in what a model is shown."""
    texts = {name: getattr(found, name) for name in _READ if hasattr(found, name)}
    flags = flags_of(*texts.values())
    if not flags:
        return found
    clean = {name: _clean(value) for name, value in texts.items()}
    kept = {name: tuple(each) if isinstance(each, list) else each for name, each in clean.items()}
    return replace(found, **kept, flags=flags)


def clean_json(value: JsonObject) -> JsonObject:
    """The same with nothing hidden in any of its texts, names of keys included."""
    return {without_hidden(key): _clean(each) for key, each in value.items()}


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield key
            yield from _texts(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts(each)


def _clean(value: Json) -> Json:
    if isinstance(value, str):
        return without_hidden(value)
    if isinstance(value, Mapping):
        return clean_json(value)
    return [_clean(each) for each in value] if isinstance(value, Sequence) else value


FORMAT = 1


@dataclass(frozen=True, slots=True)
class Definition:
    """The raw tool, with what else reaches a model with it, and what is run to call it.

    `title` and `instructions` are those of its server; `config_hash` stands for the command or
    the address that the server is reached by.
    """

    tool: JsonObject
    title: str = ""
    instructions: str = ""
    config_hash: str = ""

    @property
    def pin(self) -> str:
        """A SHA-256 of all of it: equal only if all of it is."""
        return json_digest(self._fields())

    @property
    def flags(self) -> tuple[str, ...]:
        """The tricks by which something is hidden anywhere in its texts."""
        return flags_of(self.tool, self.title, self.instructions)

    def written(self) -> str:
        """As JSON, for `read_definition`."""
        return canonical_json(self._fields())

    def _fields(self) -> JsonObject:
        return {
            "format": FORMAT,
            "tool": self.tool,
            "title": self.title,
            "instructions": self.instructions,
            "config_hash": self.config_hash,
        }


def read_definition(text: str) -> Definition:
    """The definition that was written. Raises `ValueError` for what is none."""
    match json.loads(text):
        case {
            "format": 1,
            "tool": {**tool},
            "title": str(title),
            "instructions": str(instructions),
            "config_hash": str(config_hash),
        }:
            return Definition(tool, title, instructions, config_hash)
        case _:
            raise ValueError("not a definition that this version can read")


# The permission kind of a tool that somebody else describes.


def permission_from(
    annotations: JsonObject, *, believed: bool, override: PermissionKind | None = None
) -> PermissionKind:
    """What a tool may do to the world: the operator's word first, then MCP's annotations.

    They are the tool's own word: it may raise the kind, and lower it to `read` only if it is
    believed. Only a plain true counts, and destructive goes before read-only; what is not known is
    `write`.
    """
    if override:
        return override
    if annotations.get("destructiveHint") is True:
        return "dangerous"
    if believed and annotations.get("readOnlyHint") is True:
        return "read"
    return "network" if annotations.get("openWorldHint") is True else "write"
