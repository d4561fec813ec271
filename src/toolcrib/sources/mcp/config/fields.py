"""One JSON object, read key by key. A value that does not fit is a problem; its default holds."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeGuard, TypeVar, get_args

from toolcrib.model import Json, JsonObject

T = TypeVar("T")

LONGEST_S = 1e6


class Fields:
    """The keys of one object. `problems` says what is wrong with those that were read."""

    def __init__(self, where: str, values: Mapping[str, Json]) -> None:
        self._where = where
        self._values = values
        self.problems: list[str] = []

    def has(self, key: str) -> bool:
        """Whether the key is there and not null."""
        return self._values.get(key) is not None

    def text(self, key: str) -> str:
        return self._read(key, _text, "", "a text")

    def flag(self, key: str, *, default: bool = False) -> bool:
        return self._read(key, _flag, default, "true or false")

    def seconds(self, key: str, default: float) -> float:
        return self._read(key, _seconds, default, "a number of seconds above 0")

    def count(self, key: str, default: int) -> int:
        return self._read(key, _count, default, "a whole number above 0")

    def texts(self, key: str) -> tuple[str, ...]:
        return self._read(key, _texts, (), "a list of texts")

    def text_map(self, key: str) -> Mapping[str, str]:
        return self._read(key, _text_map, {}, "an object of texts")

    def choice(self, key: str, choices: object, default: T) -> T:
        """One of the words of a `Literal`."""
        if not self.has(key):
            return default
        words: tuple[T, ...] = get_args(choices)
        listed = "one of " + ", ".join(map(str, words))
        return self._read(key, lambda v: next((w for w in words if w == v), None), default, listed)

    def custom(self, key: str, read: Callable[[Json], T | None], default: T, expected: str) -> T:
        """What `read` makes of the value; None from it means that the value does not fit."""
        return self._read(key, read, default, expected)

    def inner(self, key: str) -> "Fields | None":
        """The keys of an object within; None if there is none. Its problems count as ours."""
        values = self._read(key, _object, None, "an object")
        if values is None:
            return None
        inner = Fields(f"{self._where}: {key}", values)
        inner.problems = self.problems
        return inner

    def report_unknown(self, known: Collection[str], ignored: Collection[str]) -> None:
        """Add a problem for each key that means nothing here, with the nearest that does."""
        for key in self._values:
            if key not in known and key not in ignored:
                from toolcrib.text import nearest_names  # noqa: PLC0415 - loads a library

                near = nearest_names(key, sorted(known), limit=1, at_least=0)[0]
                self.problem(f"there is no key {key!r}; the nearest is {near!r}")

    def problem(self, message: str) -> None:
        self.problems.append(f"{self._where}: {message}")

    def _read(self, key: str, read: Callable[[Json], T | None], default: T, expected: str) -> T:
        if not self.has(key):
            return default
        value = read(self._values[key])
        if value is None:
            self.problem(f"{key!r} has to be {expected}")
            return default
        return value


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and "\0" not in value else None


def _object(value: Json) -> Mapping[str, Json] | None:
    return value if isinstance(value, Mapping) else None


def _flag(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None


def _seconds(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value <= LONGEST_S else None


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and value > 0 and value is not True else None


def _texts(value: Json) -> tuple[str, ...] | None:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        return None
    read = [_text(each) for each in value]
    return None if None in read else tuple(each for each in read if each is not None)


def _text_map(value: Json) -> Mapping[str, str] | None:
    if not isinstance(value, Mapping):
        return None
    read = {key: _text(each) for key, each in value.items()}
    return None if None in read.values() else {k: v for k, v in read.items() if v is not None}


def read_patterns(value: Json) -> tuple[str, ...] | None:
    """Names or patterns of tools; `true` is all. None: it is neither."""
    if isinstance(value, bool):
        return ("*",) if value else ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        return None
    names = tuple(name for name in value if isinstance(name, str))
    return names if len(names) == len(value) else None


def is_object(value: Json) -> TypeGuard[JsonObject]:
    return isinstance(value, Mapping)
