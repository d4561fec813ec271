"""tools.yaml: the one place that says how declared tools appear.

    read_file:
      function: toolcrib.tools.files:read_file
      category: files
      tags: [file, read]
      display: {en: Read File, zh-CN: 读取文件}
      desc: {en: Read a text file, zh-CN: 读取文本文件}
      permission_kind: read

Without `function`, an entry describes the function of that name that is added to the source,
before or after.
"""

import importlib
import sys
from collections.abc import Callable
from inspect import isroutine
from pathlib import Path

from toolcrib.errors import DeclarationError, NameTaken
from toolcrib.model import ToolInfo
from toolcrib.names import RESERVED_NAMES, reserved_message
from toolcrib.sources.builtin import BuiltinSource, Description
from toolcrib.sources.function import ToolFacts, function_from
from toolcrib.sources.text_file import read_text
from toolcrib.sources.tool_entry import tool_entries
from toolcrib.sources.yaml_file import YamlFile, parse_yaml

_PLATFORMS = {"darwin": "macos", "win32": "windows"}


def declare(
    source: BuiltinSource, path: Path, *, platform: str = sys.platform
) -> tuple[ToolInfo, ...]:
    """Add the tools of this file to the source, or describe those that others add; those it has.

    Entry by entry: one that cannot be used joins the source's `mistakes`, with file, line and key,
    and costs no other. Imports the modules that `function:` names. Raises `DeclarationError` for a
    file that cannot be read as YAML. `platform` is the running one, as `sys.platform` spells it.
    """
    file = parse_yaml(read_text(path), path)
    here = _PLATFORMS.get(platform, platform)
    found: list[ToolInfo] = []
    for name, entry in tool_entries(file, source.mistakes).items():
        try:
            tool = _declared(source, file, name, entry.function, entry.facts(here))
        except DeclarationError as error:
            source.mistakes.append(str(error))
            continue
        found += [tool] if tool else []
        for number, link in enumerate(entry.often_with):
            source.links[name, link] = file.where((name, "often_with", number))
    return tuple(found)


def _declared(
    source: BuiltinSource, file: YamlFile, name: str, reference: str, facts: ToolFacts
) -> ToolInfo | None:
    """The tool of one entry; None if its function is not there yet. Raises `DeclarationError`."""
    if name in RESERVED_NAMES:
        raise file.error((name,), reserved_message(name))
    try:
        if not reference:
            return source.describe(name, Description(file.where((name,)), facts))
        function = function_from(_import(reference), **{**facts, "name": name})
    except NameTaken as error:
        raise file.error((name,), str(error)) from error
    except Exception as error:  # an import runs code that is not ours
        raise file.error((name, "function"), f"{error}; correct the name or the module") from error
    try:
        return source.put(function)
    except NameTaken as error:
        message = "this tool was added already; remove the key"
        raise file.error((name, "function"), message) from error


def _import(reference: str) -> Callable[..., object]:
    """Find `package.module:name`. Raises whatever stands in the way."""
    module, _, name = reference.partition(":")
    if not (module and name):
        raise DeclarationError(f"{reference!r} is not 'package.module:name'")
    function = getattr(importlib.import_module(module), name)
    if not isroutine(function):
        raise DeclarationError(f"{reference!r} is not a function")
    return function
