"""What a program passes to Toolcrib's own functions, checked where it comes in.

A slip there is a `ConfigError` at once. It says where it is, what is wanted, and what came.
"""

from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from toolcrib.errors import ConfigError, ToolcribError

T = TypeVar("T")
Hint: TypeAlias = Any
"""A type as it is annotated: a class, several with `|`, or a `Literal`."""
Raises: TypeAlias = type[ToolcribError]


def check(
    value: object, hint: Hint, where: str, remedy: str = "", error: Raises = ConfigError
) -> None:
    """Nothing, if the value is of this type. Raises the error; `remedy` is what to write."""
    if not fits(value, hint):
        todo = f"; {remedy}" if remedy else ""
        raise error(f"{where} takes {_spelt(hint)}, not {value!r:.80}{todo}")


def check_number(value: float | None, least: int, where: str) -> None:
    """Nothing, if it is a whole number of at least so much, or None. Raises `ConfigError`."""
    check(value, int | None, where)
    if value is not None and value < least:
        raise ConfigError(f"{where} takes {least} or more, not {value}; None means the setting")


def several(
    values: Iterable[T], where: str, kind: Hint = str, error: Raises = ConfigError
) -> tuple[T, ...]:
    """The values, each of this kind. Raises the error; for one string too, a row of letters."""
    given = cast("object", values)
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        example = f"write [{given!r:.80}]" if isinstance(given, str) else "write a list"
        raise error(f"{where} takes a list, each {_spelt(kind)}, not {given!r:.80}; {example}")
    found = tuple(values)
    for each in found:
        check(each, kind, where, error=error)
    return found


def fits(value: object, hint: Hint) -> bool:
    """Whether a value is of a class, of one of several types, or one of the words of a literal."""
    origin = get_origin(hint)
    if origin in {Union, UnionType}:
        return any(fits(value, each) for each in get_args(hint))
    if origin is Literal:
        return isinstance(value, str | None) and value in get_args(hint)
    return isinstance(value, origin or hint) and not (hint is int and isinstance(value, bool))


def _spelt(hint: Hint) -> str:
    if get_origin(hint) in {Union, UnionType}:
        return " or ".join(map(_spelt, get_args(hint)))
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(str, get_args(hint)))}"
    return _WORDS.get(hint) or f"a {(get_origin(hint) or hint).__name__}"


_WORDS = {str: "a string", int: "a whole number", object: "a value", type(None): "None"}
