"""Settings as pydantic checks them: values that have to be converted, and those that are wrong.

A section becomes a pydantic model of the same name and keys, made when it is needed.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

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
Keys = Mapping[str, Setting]


def validate(name: str, keys: Keys, values: Mapping[str, object]) -> dict[str, object]:
    """The values as the section of this name has them. Raises `pydantic.ValidationError`."""
    return _values(_model_of(name, keys).model_validate(dict(values)))


def section_schema(
    section: type[T],
    keys: Keys,
    make: Callable[[Mapping[str, object]], T],
    handler: GetCoreSchemaHandler,
) -> core_schema.CoreSchema:
    """How pydantic reads a section inside another; `make` makes one of checked values."""

    def read(value: object, check: Callable[[object], BaseModel]) -> T:
        return value if isinstance(value, section) else make(_values(check(value)))

    model = handler.generate_schema(_model_of(section.__name__, keys))
    return core_schema.no_info_wrap_validator_function(read, model)


def secret_schema(make: Callable[[str], T]) -> core_schema.CoreSchema:
    """How pydantic reads a secret: a text, or one that is hidden already."""

    def read(value: object, check: Callable[[object], str]) -> T:
        hidden = getattr(value, "get_secret_value", None)
        return make(check(hidden() if hidden else value))

    return core_schema.no_info_wrap_validator_function(read, core_schema.str_schema())


def _model_of(name: str, keys: Keys) -> type[BaseModel]:
    fields: dict[str, Any] = {key: _field(declared) for key, declared in keys.items()}
    return create_model(name, __config__=ConfigDict(frozen=True, extra="forbid"), **fields)


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
