"""What is promised to users, and which types its signatures speak of."""

import asyncio
import inspect
import typing
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

PLACES = ("toolcrib", "toolcrib.app", "toolcrib.errors", "toolcrib.testing")
"""The modules of which every name in `__all__` is promised. Adapters are promised too."""

ADAPTERS = (
    "anthropic",
    "auto",
    "gemini",
    "langchain",
    "langgraph",
    "openai_agents",
    "openai_chat",
    "openai_responses",
    "pydantic_ai",
)
"""Each has a package of its own to install."""

MADE_HERE = "made by `"
"""With these words the docstring of a class says that users do not make one themselves."""

SPOKEN = ("__init__", "__call__", "__getitem__", "__iter__", "__enter__", "__aenter__")


class Use(NamedTuple):
    """A type, and the signature that speaks of it."""

    type: type
    where: str


def promised(module: str) -> Mapping[str, object]:
    """What a module promises, by name."""
    loaded = import_module(module)
    return {name: getattr(loaded, name) for name in loaded.__all__}


def sections() -> Mapping[str, type]:
    """The sections of the settings with what is in them, promised as `toolcrib.settings.NAME`."""
    settings = import_module("toolcrib.settings")
    kinds: tuple[type, ...] = (settings.Section, settings.Setting, settings.Secret)
    found = promised("toolcrib.settings").items()
    return {name: each for name, each in found if inspect.isclass(each) and issubclass(each, kinds)}


def uses_of(name: str, value: object) -> Iterator[Use]:
    """Every type in the signature of a function, or in what a class shows of itself."""
    if inspect.isroutine(value):
        yield from _of_function(name, value)
    elif inspect.isclass(value):
        yield from _of_class(name, value)
    else:  # an alias of a type, or a constant
        yield from _types(name, value)


def _of_class(name: str, value: type) -> Iterator[Use]:
    for base in value.__bases__:
        yield from _types(name, base)
    for field in inspect.get_annotations(value):
        if not field.startswith("_"):
            yield from _types(f"{name}.{field}", _hints(value)[field])
    for own, member in vars(value).items():
        if _is_shown(own, value):
            yield from _of_member(f"{name}.{own}", member)


def _is_shown(name: str, owner: type) -> bool:
    if name == "__init__" and MADE_HERE in (owner.__doc__ or "").lower():
        return False
    return not name.startswith("_") or name in SPOKEN


def _of_member(where: str, member: object) -> Iterator[Use]:
    if isinstance(member, classmethod | staticmethod):
        member = member.__func__
    if isinstance(member, property):
        member = member.fget
    if isinstance(member, cached_property):
        member = member.func
    if inspect.isfunction(member) and not member.__module__.startswith("pydantic"):
        yield from _of_function(where, member)


def _of_function(where: str, function: object) -> Iterator[Use]:
    for hint in _hints(function).values():
        yield from _types(where, hint)


def _hints(value: object) -> dict[str, Any]:
    """The annotations. `Json` refers to itself, and means nothing of ours.

    A module need not load the types of which it speaks: those that are promised are found here.
    """
    names = {**promised("toolcrib"), "asyncio": asyncio}
    names |= {"Json": object, "Sequence": Sequence, "Mapping": Mapping}
    return typing.get_type_hints(value, localns=names)


def _types(where: str, hint: object) -> Iterator[Use]:
    """Every class within an annotation, each once: an alias may be about itself."""
    seen: set[int] = set()
    rest = [hint]
    while rest:
        each = rest.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        rest += _parts(each)
        if isinstance(each, type):
            yield Use(each, where)


def _parts(hint: object) -> list[object]:
    if isinstance(hint, list):  # the parameters of a callable
        return hint
    if isinstance(hint, typing.TypeVar):
        return [hint.__bound__]
    origin = typing.get_origin(hint)
    return [] if origin in (None, typing.Literal) else [origin, *typing.get_args(hint)]
