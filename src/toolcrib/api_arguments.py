"""What a program passes to Toolcrib's own functions, checked where it comes in.

A slip there is a `ConfigError` at once. It says where it is, what is wanted, and what came.
"""

from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from toolcrib.errors import ConfigError, ToolcribError

T = TypeVar("T")


def check(
    value: object,
    hint: Any,  # noqa: ANN401 - a type as it is annotated
    where: str,
    remedy: str = "",
    error: type[ToolcribError] = ConfigError,
) -> None:
    """Nothing, if the value is of this type. Raises the error; `remedy` is what to write."""
    if not fits(value, hint):
        todo = f"; {remedy}" if remedy else ""
        raise error(f"{where} takes {_spelt(hint)}, not {value!r:.80}{todo}")


def several(
    values: Iterable[T],
    where: str,
    kind: Any = str,  # noqa: ANN401 - a type as it is annotated
    error: type[ToolcribError] = ConfigError,
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


def fits(value: object, hint: Any) -> bool:  # noqa: ANN401 - a type as it is annotated
    """Whether a value is of a class, of one of several types, or one of the words of a literal."""
    origin = get_origin(hint)
    if origin in {Union, UnionType}:
        return any(fits(value, each) for each in get_args(hint))
    if origin is Literal:
        return isinstance(value, str | None) and value in get_args(hint)
    return isinstance(value, origin or hint) and not (hint is int and isinstance(value, bool))


def _spelt(hint: Any) -> str:  # noqa: ANN401 - a type as it is annotated
    if get_origin(hint) in {Union, UnionType}:
        return " or ".join(map(_spelt, get_args(hint)))
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(str, get_args(hint)))}"
    return _WORDS.get(hint) or f"a {hint.__name__}"


_WORDS: Mapping[Any, str] = {str: "a string", int: "a whole number", type(None): "None"}
