"""Looks through all texts of a definition for what is hidden in them, and takes it out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from toolcrib.model import AgentInfo, Json, JsonObject, SkillInfo, ToolInfo
from toolcrib.text import find_hidden, without_hidden

C = TypeVar("C", SkillInfo, AgentInfo)

_READ = ("name", "description", "category", "tags", "often_with", "body", "skills", "url")
"""What is read from the file of a skill or an agent."""


def flags_of(*values: Json) -> tuple[str, ...]:
    """The tricks that are used anywhere in these values, names of keys included."""
    found = (finding for text in _texts(values) for finding in find_hidden(text))
    return tuple(sorted({finding.trick for finding in found}))


def cleaned(tool: ToolInfo, pin: str, flags: tuple[str, ...]) -> ToolInfo:
    """The tool with this pin and these flags, and nothing hidden in what a model is shown."""
    if not flags:
        return replace(tool, pin=pin)
    return replace(
        tool,
        description=without_hidden(tool.description),
        title=without_hidden(tool.title),
        search_hint=without_hidden(tool.search_hint),
        parameters=cleaned_object(tool.parameters),
        output_schema=tool.output_schema and cleaned_object(tool.output_schema),
        annotations=cleaned_object(tool.annotations),
        meta=cleaned_object(tool.meta),
        flags=flags,
        pin=pin,
    )


def cleaned_file(found: C) -> C:
    """The skill or agent with its flags, and nothing hidden in what a model is shown."""
    texts = {name: getattr(found, name) for name in _READ if hasattr(found, name)}
    flags = flags_of(*texts.values())
    if not flags:
        return found
    clean = {name: _clean(value) for name, value in texts.items()}
    kept = {name: tuple(each) if isinstance(each, list) else each for name, each in clean.items()}
    return replace(found, **kept, flags=flags)


def cleaned_object(value: JsonObject) -> JsonObject:
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
        return cleaned_object(value)
    return [_clean(each) for each in value] if isinstance(value, Sequence) else value
