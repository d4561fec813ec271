"""tools.yaml: how declared tools appear, to models, to people and to search.

    read_file:
      function: toolcrib.tools.files:read_file
      category: files
      tags: [file, read]
      display: {en: Read File, zh-CN: 读取文件}
      desc: {en: Read a text file, zh-CN: 读取文本文件}
      permission_kind: read

An entry without `function` describes the function of that name that a program adds, before or
after the file is read.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from toolcrib.errors import DeclarationError, NameTaken
from toolcrib.model import Defer, Json, PermissionKind, ToolInfo
from toolcrib.names import RESERVED_NAMES, reserved_message
from toolcrib.sources.declaration_file import Place, YamlFile, parse_yaml
from toolcrib.sources.function import (
    ToolFacts,
    function_from,
    import_function,
    running_platform,
)
from toolcrib.sources.function_source import Description, FunctionSource
from toolcrib.sources.text_file import read_text_file
from toolcrib.text import did_you_mean

NOT_A_MAPPING = "must be a mapping of keys to values; indent them below it"

Platform = Literal["all", "linux", "macos", "windows"]


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class ToolEntry(BaseModel):
    """The keys of one entry, in the words of the file. A key that is left out changes nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    function: str = ""
    available: bool = True
    searchable: bool = True
    category: str = ""
    tags: list[str] = []
    display: Mapping[str, str] = {}
    desc: Mapping[str, str] = {}
    platforms: Annotated[list[Platform], BeforeValidator(_as_list)] = ["all"]
    required: bool = False
    permission_kind: PermissionKind = "write"
    approval: Literal["ask"] | None = None
    defer: Defer = "automatic"
    search_hint: str = ""
    often_with: list[str] = []

    def facts(self, platform: str) -> ToolFacts:
        """The keys that the entry has, in the words of `ToolInfo`."""
        facts = ToolFacts(**self.model_dump(exclude_unset=True, exclude={"function", "available"}))
        if "available" in self.model_fields_set:
            facts["enabled"] = self.available
        if "platforms" in self.model_fields_set:
            facts["platform_available"] = not {"all", platform}.isdisjoint(self.platforms)
        if self.display:
            facts["title"] = _in_english(self.display)
        if self.desc:
            facts["description"] = _in_english(self.desc)
        return facts


def declare_tools(
    source: FunctionSource, path: Path, *, platform: str = sys.platform
) -> tuple[ToolInfo, ...]:
    """Add the tools of this file to the source, or describe functions that others add to it.

    Returns the tools that are there now. An entry that cannot be used is added to the source's
    `mistakes`, with file, line and key; the other entries count all the same. Imports the modules
    that `function:` names. Raises `DeclarationError` for a file that cannot be read as YAML.
    `platform` is the running one, as `sys.platform` spells it.
    """
    file = parse_yaml(read_text_file(path), path)
    here = running_platform(platform)
    tools: list[ToolInfo] = []
    for name, entry in tool_entries(file, source.mistakes).items():
        try:
            tool = _declare(source, file, name, entry.function, entry.facts(here))
        except DeclarationError as error:
            source.mistakes.append(str(error))
            continue
        tools += [tool] if tool else []
        for number, link in enumerate(entry.often_with):
            source.links[name, link] = file.where((name, "often_with", number))
    return tuple(tools)


def _declare(
    source: FunctionSource, file: YamlFile, name: str, reference: str, facts: ToolFacts
) -> ToolInfo | None:
    """The tool of one entry; None if its function is not there yet. Raises `DeclarationError`."""
    if name in RESERVED_NAMES:
        raise file.error((name,), reserved_message(name))
    try:
        if not reference:
            return source.describe(name, Description(file.where((name,)), facts))
        function = function_from(import_function(reference), **{**facts, "name": name})
    except NameTaken as error:
        raise file.error((name,), str(error)) from error
    except Exception as error:  # an import runs code that is not ours
        raise file.error((name, "function"), f"{error}; correct the name or the module") from error
    try:
        return source.put(function)
    except NameTaken as error:
        message = "this tool was added already; remove the key"
        raise file.error((name, "function"), message) from error


def tool_entries(file: YamlFile, mistakes: list[str]) -> Mapping[str, ToolEntry]:
    """The entries by tool name; an empty file has none. Mistakes in others are added to `mistakes`.

    Raises `DeclarationError` for a file that is not a mapping.
    """
    if not isinstance(file.data or {}, Mapping):
        raise file.error((), NOT_A_MAPPING)
    entries: dict[str, ToolEntry] = {}
    for name, fields in cast("Mapping[str, Json]", file.data or {}).items():
        try:
            entries[name] = ToolEntry.model_validate(fields)
        except ValidationError as error:
            mistakes += (_mistake(file, name, each) for each in error.errors())
    return entries


def _mistake(file: YamlFile, name: str, error: ErrorDetails) -> str:
    place = (name, *error["loc"])
    return f"{file.where(place)} {_problem(error['type'], place, error['msg'])}"


def _problem(kind: str, place: Place, text: str) -> str:
    match kind:
        case "extra_forbidden":
            question = did_you_mean(str(place[-1]), list(ToolEntry.model_fields), at_least=70)
            return f"unknown key; {question or 'remove it'}"
        case "model_type" | "dict_type" | "mapping_type":
            return NOT_A_MAPPING
        case _:
            return f"{text}; correct the value"


def _in_english(texts: Mapping[str, str]) -> str:
    """The English text, else the first one."""
    return texts.get("en") or next(iter(texts.values()))
