"""Settings as pydantic checks them: values that have to be converted, and those that are wrong.

A section becomes a pydantic model of the same name and keys, made when it is needed.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Protocol, Self, TypeVar, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    create_model,
)
from pydantic_core import core_schema

from toolcrib.settings.declaration import Setting

T = TypeVar("T")


class Declaring(Protocol):
    """A section, as far as it is known here: keys, and how one is made of checked values."""

    keys: ClassVar[Mapping[str, Setting]]

    @classmethod
    def from_checked(cls, values: Mapping[str, object]) -> Self: ...


def validate(section: type[Declaring], values: Mapping[str, object]) -> dict[str, object]:
    """The values as the section has them. Raises `pydantic.ValidationError`."""
    return _values(_model_of(section).model_validate(dict(values)))


def section_schema(
    section: type[Declaring], handler: GetCoreSchemaHandler
) -> core_schema.CoreSchema:
    """How pydantic reads a section inside another."""

    def read(value: object, check: Callable[[object], BaseModel]) -> object:
        is_one = isinstance(value, cast("type", section))
        return value if is_one else section.from_checked(_values(check(value)))

    model = handler.generate_schema(_model_of(section))
    return core_schema.no_info_wrap_validator_function(read, model)


def secret_schema(make: Callable[[str], T]) -> core_schema.CoreSchema:
    """How pydantic reads a secret: a text, or one that is hidden already."""

    def read(value: object, check: Callable[[object], str]) -> T:
        hidden = getattr(value, "get_secret_value", None)
        return make(check(hidden() if hidden else value))

    return core_schema.no_info_wrap_validator_function(read, core_schema.str_schema())


@cache
def _model_of(section: type[Declaring]) -> type[BaseModel]:
    fields: dict[str, Any] = {key: _field(declared) for key, declared in section.keys.items()}
    config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
    return create_model(section.__name__, __config__=config, **fields)


def _field(declared: Setting) -> tuple[object, object]:
    kind = declared.type
    if check := declared.check:

        def checked(value: object) -> object:
            check(value)
            return value

        kind = Annotated[kind, BeforeValidator(checked)]
    default = ... if declared.default is ... else None  # the section has it, and fills it in
    bounds: dict[str, Any] = {**declared.bounds}
    return kind, Field(default=default, **bounds)


def _values(model: BaseModel) -> dict[str, object]:
    return {key: getattr(model, key) for key in model.model_fields_set}
