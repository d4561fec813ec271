"""A typed Python function becomes a tool: the schema is its signature, the text its docstring."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Literal,
    Protocol,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    get_origin,
    get_type_hints,
    overload,
)

from toolcrib.api_arguments import check, several
from toolcrib.errors import DeclarationError
from toolcrib.model import Defer, PermissionKind, ToolInfo
from toolcrib.text import list_nearest

if TYPE_CHECKING:
    from toolcrib.sources.signature import Signature

F = TypeVar("F", bound=Callable[..., object])

_FACTS = "__toolcrib__"
_PLATFORMS = {"darwin": "macos", "win32": "windows"}


class ToolFacts(TypedDict, total=False):
    """What a program may say of a tool beside its code. What is left out keeps its default."""

    name: str
    description: str
    permission_kind: PermissionKind
    category: str
    tags: Sequence[str]
    searchable: bool
    platforms: Sequence[str]
    enabled: bool
    platform_available: bool
    title: str
    display: Mapping[str, str]
    desc: Mapping[str, str]
    search_hint: str
    often_with: Sequence[str]
    defer: Defer
    required: bool
    approval: Literal["ask"] | None


class RunnableTool(Protocol):
    """A tool, and all that is needed to run it."""

    @property
    def run(self) -> Callable[..., object]: ...
    @property
    def info(self) -> ToolInfo: ...
    @property
    def signature(self) -> "Signature": ...


@dataclass(frozen=True, slots=True)
class Function:
    """A function and the tool that it is."""

    run: Callable[..., object]
    info: ToolInfo
    signature: "Signature"


@overload
def tool(fn: F, /) -> F: ...
@overload
def tool(**facts: Unpack[ToolFacts]) -> Callable[[F], F]: ...
def tool(fn: F | None = None, /, **facts: Unpack[ToolFacts]) -> F | Callable[[F], F]:
    """Mark a function as a tool, and say more about it; it is called as before.

    Use it bare or with facts: `@tool(permission_kind="read", tags=["weather"])`.
    """

    def attach(fn: F) -> F:
        setattr(fn, _FACTS, MappingProxyType(facts))
        return fn

    return attach if fn is None else attach(fn)


def facts_of(fn: object) -> ToolFacts:
    """What `@tool` says of a function; nothing where it is not there."""
    return cast("ToolFacts", getattr(fn, _FACTS, {}))


def is_declared(fn: object) -> bool:
    """Whether `@tool` was put on this function."""
    return hasattr(fn, _FACTS)


def function_from(fn: Callable[..., object], **facts: Unpack[ToolFacts]) -> Function:
    """The tool that a function is, with all that is needed to call it.

    Facts given here win over `@tool`, and `@tool` wins over the code. A function without facts is a
    `write` tool. Raises `DeclarationError` when it cannot be called with a JSON object of
    arguments, or has no name.
    """
    from toolcrib.sources.docstring import parse_docstring  # noqa: PLC0415 - whoever has no function
    from toolcrib.sources.signature import signature_of  # noqa: PLC0415 - needs no pydantic

    if not callable(fn):
        raise DeclarationError(f"{fn!r:.80} is not a function; pass functions one by one")
    written = _written(fn)
    docstring = parse_docstring(inspect.getdoc(written))
    signature = signature_of(fn, docstring.parameters)
    name = getattr(written, "__name__", "")
    plain = ToolInfo(name=name, description=docstring.description, parameters=signature.schema)
    info = with_facts(with_facts(plain, **facts_of(written)), **facts)
    if info.name in {"", "<lambda>"}:
        raise DeclarationError(f"{fn!r} has no name of its own; give it one with name=")
    return Function(fn, info, signature)


def import_function(reference: str) -> Callable[..., object]:
    """Find `package.module:name`. Raises whatever stands in the way."""
    module, _, name = reference.partition(":")
    if not (module and name):
        raise DeclarationError(f"{reference!r} is not 'package.module:name'")
    function = getattr(import_module(module), name)
    if not inspect.isroutine(function):
        raise DeclarationError(f"{reference!r} is not a function")
    return function


def module_of(fn: Callable[..., object]) -> str:
    """The module that a function is from; of a program that is run, the name of its file.

    "" where nobody can say.
    """
    name = getattr(_written(fn), "__module__", None) or ""
    if name != "__main__":
        return name
    file = getattr(sys.modules.get(name), "__file__", None)
    return Path(file).stem if file else "main"


def running_platform(name: str) -> str:
    """What `platforms` of a tool calls the system that `sys.platform` names so."""
    return _PLATFORMS.get(name, name)


def with_facts(info: ToolInfo, **facts: Unpack[ToolFacts]) -> ToolInfo:
    """Return the same tool with these facts in place of its own.

    Raises `DeclarationError` for a value that a fact cannot have.
    """
    hints, lists = _hints(), dict[str, tuple[str, ...]]()
    for key, given in facts.items():
        where = f"{info.name}: {key}="
        if key not in hints:
            near = list_nearest(key, list(hints))
            raise DeclarationError(f"{where} says nothing about a tool; nearest: {near}")
        if get_origin(hints[key]) is Sequence:
            lists[key] = several(cast("Sequence[str]", given), where, error=DeclarationError)
        else:
            check(given, hints[key], where, error=DeclarationError)
    return replace(info, **{**facts, **lists})


def _written(fn: Callable[..., object]) -> Callable[..., object]:
    """The function that somebody wrote: of a `functools.partial` the one that it calls."""
    return cast("Callable[..., object]", fn.func) if isinstance(fn, partial) else fn


@cache
def _hints() -> Mapping[str, object]:
    """The type of each fact."""
    return get_type_hints(ToolFacts)
