"""A tool as a stranger defines it: its pin, its permission kind, and the text hidden in it.

`Definition` is the whole definition, which is approved and compared. `permission_from` says what
the tool may do. `clean_tool`, `clean_file` and `clean_json` take hidden text out of what a model is
shown.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from toolcrib.model import AgentInfo, Json, JsonObject, PermissionKind, SkillInfo, ToolInfo
from toolcrib.strict_json import canonical_json, json_digest
from toolcrib.text import (
    find_hidden,
    may_have_hidden,
    our_verbs,
    show_hidden,
    without_hidden,
)

FORMAT = 1
MOST_PLACES = 5

C = TypeVar("C", SkillInfo, AgentInfo)

_FILE_FIELDS = ("name", "description", "category", "tags", "often_with", "body", "skills", "url")
"""The fields that are read from the file of a skill or an agent."""


@dataclass(frozen=True, slots=True)
class Definition:
    """The raw tool, what else of its server reaches a model, and what is run to call it.

    `title` and `instructions` are the server's. `config_hash` stands for its command or address.
    """

    tool: JsonObject
    title: str = ""
    instructions: str = ""
    config_hash: str = ""

    def is_of(self, tool: JsonObject, of_server: tuple[str, str, str]) -> bool:
        """Whether this is the definition of a raw tool; `of_server` are its other fields."""
        mine = self.title, self.instructions, self.config_hash
        return (self.tool is tool or self.tool == tool) and mine == of_server

    @property
    def pin(self) -> str:
        """A SHA-256 of all of it: equal only if all of it is."""
        return json_digest(self._fields())

    @property
    def flags(self) -> tuple[str, ...]:
        """The tricks by which text is hidden in it."""
        return hidden_tricks(self.tool, self.title, self.instructions)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The first few things that are hidden in it: `⟨U+200B⟩ in tool.inputSchema.title`."""
        found, waiting = list[str](), list[tuple[str, Json]]([("", self._fields())])
        while waiting and len(found) < MOST_PLACES:
            where, each = waiting.pop()
            if isinstance(each, str):
                found += (f"{show_hidden(each[a:b])} in {where}" for _, a, b in find_hidden(each))
            elif isinstance(each, Mapping):
                waiting += ((f"the keys of {where}", key) for key in each)
                inside = f"{where}." if where else ""
                waiting += ((f"{inside}{show_hidden(key)}"[-200:], each[key]) for key in each)
            elif isinstance(each, list):
                waiting += ((where, inner) for inner in each)
        return tuple(found[:MOST_PLACES])

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
    """The definition of such a text. Raises `ValueError` for any other text."""
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


def permission_from(
    annotations: JsonObject,
    *,
    believed: bool,
    override: PermissionKind | None = None,
    name: str = "",
) -> PermissionKind:
    """What a tool may do: the operator's `override`, else what MCP's annotations say.

    The annotations are the server's own word. They may raise the kind; they lower it to `read` only
    if the server is `believed`, and not for a tool whose `name` says that it destroys. Only a plain
    true counts, destructive comes before read-only, and a tool that says nothing is `write`.
    """
    if override:
        return override
    if annotations.get("destructiveHint") is True:
        return "dangerous"
    if believed and annotations.get("readOnlyHint") is True and not our_verbs().destroys(name):
        return "read"
    return "network" if annotations.get("openWorldHint") is True else "write"


def hidden_tricks(*values: Json) -> tuple[str, ...]:
    """The tricks by which text is hidden anywhere in these values, keys included."""
    texts = _texts(values)
    if not may_have_hidden("|".join(texts)):  # one quick look at all of them
        return ()
    found = (finding for text in texts for finding in find_hidden(text))
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


def clean_file(capability: C) -> C:
    """The skill or agent with its flags, and nothing hidden in what a model is shown."""
    texts = {name: getattr(capability, name) for name in _FILE_FIELDS if hasattr(capability, name)}
    flags = hidden_tricks(*texts.values())
    if not flags:
        return capability
    clean = {name: _clean(value) for name, value in texts.items()}
    fields = {name: tuple(each) if isinstance(each, list) else each for name, each in clean.items()}
    return replace(capability, **fields, flags=flags)


def clean_json(value: JsonObject) -> JsonObject:
    """The same with nothing hidden in any of its texts, names of keys included."""
    return {without_hidden(key): _clean(each) for key, each in value.items()}


def _texts(value: Json) -> list[str]:
    """All texts in a value, keys included, in any order."""
    texts: list[str] = []
    waiting: list[Json] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            texts.append(each)
        elif isinstance(each, dict | Mapping):
            texts += each
            waiting += each.values()
        elif isinstance(each, list | Sequence):
            waiting += each
    return texts


def _clean(value: Json) -> Json:
    if isinstance(value, str):
        return without_hidden(value)
    if isinstance(value, Mapping):
        return clean_json(value)
    return [_clean(each) for each in value] if isinstance(value, Sequence) else value
