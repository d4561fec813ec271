"""A section of the settings: keys with their types and defaults, and their values, frozen.

    class CallSettings(Section):
        timeout_s: float = setting(default=60.0, gt=0, description="How long a tool may take.")

A value that is just what its key wants is taken as it is. Whatever else is given, and whatever is
wrong, goes to pydantic (`validation`), which converts it or says why it cannot. So pydantic is
loaded where it has something to say: it takes longer to load than most commands run.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import get_annotations
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    Self,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
)

from toolcrib.settings.declaration import Setting, setting


class _NotPlain(Exception):
    """A value that has to be converted, or is wrong."""


class Secret:
    """A text that no `repr` and no log shows."""

    def __init__(self, value: str) -> None:
        self._value = value

    def get_secret_value(self) -> str:
        """The text itself."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "Secret('**********')"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> Any:  # noqa: ANN401 - pydantic's
        from toolcrib.settings.validation import secret_schema  # noqa: PLC0415 - with pydantic

        return secret_schema(cls)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(setting,))
class Section:
    """Some settings that belong together: frozen, and none that is not known.

    A class has the defaults, an instance what was given. Raises pydantic's `ValidationError`.
    """

    keys: ClassVar[Mapping[str, Setting]] = {}

    def __init_subclass__(cls) -> None:
        keys: dict[str, Setting] = {}
        for key, kind in get_annotations(cls).items():
            declared = cls.__dict__.get(key, ...)
            if not isinstance(declared, Setting):
                declared = Setting(declared)
            keys[key] = declared._replace(type=kind)
            if declared.default is not ...:
                setattr(cls, key, declared.default)
        cls.keys = MappingProxyType(keys)

    def __init__(self, **values: object) -> None:
        try:
            taken = _plain_values(type(self), values)
        except _NotPlain:
            from toolcrib.settings.validation import validate  # noqa: PLC0415 - with pydantic

            taken = validate(type(self), values)
        vars(self).update(taken)

    @classmethod
    def model_validate(cls, values: Mapping[str, Any]) -> Self:
        """The section with these values."""
        return cls(**values)

    @classmethod
    def from_checked(cls, values: Mapping[str, object]) -> Self:
        """The section with values that were checked before."""
        section = cls.__new__(cls)
        vars(section).update(values)
        return section

    @property
    def given(self) -> frozenset[str]:
        """The keys that have a value of their own."""
        return frozenset(vars(self).keys() & self.keys.keys())

    def model_copy(self, *, update: Mapping[str, object] | None = None) -> Self:
        """The same, but for these values, which are taken unchecked."""
        return self.from_checked({**vars(self), **(update or {})})

    def model_dump(self) -> dict[str, Any]:
        """All keys with their values, sections as dictionaries."""
        return {key: _dumped(getattr(self, key)) for key in self.keys}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"settings are frozen: {name} cannot be set; make a copy with it")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"settings are frozen: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._all() == other._all()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(tuple(self._all().values()))

    def __repr__(self) -> str:
        values = (f"{key}={getattr(self, key)!r}" for key in self.keys)
        return f"{type(self).__name__}({', '.join(values)})"

    def _all(self) -> dict[str, object]:
        return {key: getattr(self, key) for key in self.keys} | vars(self)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, handler: Any) -> Any:  # noqa: ANN401 - pydantic's
        from toolcrib.settings.validation import section_schema  # noqa: PLC0415 - with pydantic

        return section_schema(cls, handler)


def _dumped(value: object) -> object:
    match value:
        case Section():
            return value.model_dump()
        case tuple():
            return tuple(map(_dumped, cast("tuple[object, ...]", value)))
        case Mapping():
            inside = cast("Mapping[str, object]", value)
            return {key: _dumped(each) for key, each in inside.items()}
        case _:
            return value


def _plain_values(section: type[Section], values: Mapping[str, object]) -> dict[str, object]:
    """The values, if each is what its key wants. Raises `_NotPlain`."""
    keys = section.keys
    needed = {key for key, declared in keys.items() if declared.default is ...}
    if not needed <= values.keys() <= keys.keys():
        raise _NotPlain
    return {key: _plain_value(keys[key], value) for key, value in values.items()}


def _plain_value(declared: Setting, given: object) -> object:
    value = _plain(declared.type, given)
    if declared.check is not None:
        try:
            declared.check(value)
        except ValueError:
            raise _NotPlain from None
    for bound, limit in declared.bounds.items():
        if value is not None and not _WITHIN[bound](value, limit):
            raise _NotPlain
    return value


_WITHIN: Mapping[str, Callable[[Any, float], bool]] = {
    "gt": lambda value, limit: value > limit,
    "ge": lambda value, limit: value >= limit,
    "le": lambda value, limit: value <= limit,
}


def _plain(kind: Any, value: object) -> object:  # noqa: ANN401 - a type as it is annotated
    """The value in this type; only what needs no judgement is converted. Raises `_NotPlain`."""
    if isinstance(kind, type):
        return _plain_single(kind, value)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal and isinstance(value, str) and value in inner:
        return value
    if origin in {Union, UnionType}:
        return _plain_of_several(inner, value)
    if origin is tuple and isinstance(value, (list, tuple)):
        return tuple(_plain(inner[0], each) for each in cast("Sequence[object]", value))
    raise _NotPlain


def _plain_single(kind: type, value: object) -> object:
    match value:
        case dict() if issubclass(kind, Section):
            return kind.from_checked(_plain_values(kind, cast("dict[str, object]", value)))
        case str() if kind in {str, Path, Secret}:
            return value if kind is str else kind(value)
        case int() if kind is float and not isinstance(value, bool):
            return float(value)
        case _ if type(value) is kind or (kind is Path and isinstance(value, Path)):
            return value
        case _:
            raise _NotPlain


def _plain_of_several(kinds: Iterable[Any], value: object) -> object:
    for kind in kinds:
        try:
            return _plain(kind, value)
        except _NotPlain:
            continue
    raise _NotPlain
