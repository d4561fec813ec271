"""tools.yaml: the one place that says how declared tools appear.

    read_file:
      function: toolcrib.tools.files:read_file
      category: files
      tags: [file, read]
      display: {en: Read File, zh-CN: 读取文件}
      desc: {en: Read a text file, zh-CN: 读取文本文件}
      permission_kind: read

Without `function`, an entry describes a function that was added to the source under that name.
"""

import importlib
import sys
from collections.abc import Callable, Collection
from inspect import isroutine
from pathlib import Path

from toolcrib.errors import DeclarationError
from toolcrib.model import ToolInfo
from toolcrib.sources.builtin import BuiltinSource
from toolcrib.sources.function import ToolFacts, function_from
from toolcrib.sources.text_file import read_text
from toolcrib.sources.tool_entry import tool_entries
from toolcrib.sources.yaml_file import YamlFile, parse_yaml

_PLATFORMS = {"darwin": "macos", "win32": "windows"}


def declare(
    source: BuiltinSource, path: Path, *, platform: str = sys.platform
) -> tuple[ToolInfo, ...]:
    """Add the tools of this file to the source, or describe those that are there already.

    Imports the modules that `function:` names. Raises `DeclarationError` with file, line and key
    before anything is added. `platform` is the running one, as `sys.platform` spells it.
    """
    file = parse_yaml(read_text(path), path)
    here = _PLATFORMS.get(platform, platform)
    known = [info.name for info in source.capabilities()]
    entries = tool_entries(file)
    ready = [
        _ready(file, name, known, entry.function, entry.facts(here))
        for name, entry in entries.items()
    ]
    source.links |= {
        (name, link): file.where((name, "often_with", number))
        for name, entry in entries.items()
        for number, link in enumerate(entry.often_with)
    }
    return tuple(apply(source) for apply in ready)


def _ready(
    file: YamlFile, name: str, known: Collection[str], reference: str, facts: ToolFacts
) -> Callable[[BuiltinSource], ToolInfo]:
    """The step that puts one entry into a source, checked so that it cannot fail."""
    if name in known and reference:
        raise file.error((name, "function"), "this tool was added already; remove the key")
    if name in known:
        return lambda source: source.amend(name, **facts)
    if not reference:
        raise file.error((name,), "no such function was added; name it with 'function'")
    try:
        function = function_from(_import(reference), **{**facts, "name": name})
    except Exception as error:  # an import runs code that is not ours
        raise file.error((name, "function"), f"{error}; correct the name or the module") from error
    return lambda source: source.put(function)


def _import(reference: str) -> Callable[..., object]:
    """Find `package.module:name`. Raises whatever stands in the way."""
    module, _, name = reference.partition(":")
    if not (module and name):
        raise DeclarationError(f"{reference!r} is not 'package.module:name'")
    function = getattr(importlib.import_module(module), name)
    if not isroutine(function):
        raise DeclarationError(f"{reference!r} is not a function")
    return function
