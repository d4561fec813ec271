"""How a Python function is called with JSON arguments: its schema, and the check of a call."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from toolcrib.errors import BadArguments, DeclarationError
from toolcrib.model import JsonObject
from toolcrib.text import did_you_mean


@dataclass(frozen=True, slots=True)
class Bound:
    """A checked call: what to pass by position and what by name."""

    by_position: Sequence[object]
    by_name: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function, as a pydantic model.

    A field of `model` is an ordinal whose alias is the parameter's name: so a parameter may have
    any name, also one that means something to pydantic.
    """

    model: type[BaseModel]
    schema: JsonObject
    names: tuple[str, ...]
    positional_only: frozenset[str]

    def bind(self, arguments: JsonObject) -> Bound:
        """Check and convert. Raises `BadArguments` naming every argument that does not fit."""
        try:
            checked = self.model.model_validate(dict(arguments))
        except ValidationError as error:
            details = error.errors()
            found = [self._problem(e["type"], e["loc"], e["msg"], e["input"]) for e in details]
            raise BadArguments("; ".join(found)) from None
        values = {name: getattr(checked, _field(at)) for at, name in enumerate(self.names)}
        by_position = [values.pop(name) for name in self.names if name in self.positional_only]
        return Bound(by_position, values | (checked.model_extra or {}))

    def _problem(self, kind: str, place: tuple[int | str, ...], text: str, given: object) -> str:
        name = ".".join(map(str, place))
        match kind:
            case "extra_forbidden" if name == place[0]:
                return f"there is no parameter {name!r}; {self._remedy(name)}"
            case "missing":
                return f"{name!r} is missing; give it a value"
            case _:
                return f"{name!r}: {text}, not {given!r:.80}"

    def _remedy(self, name: str) -> str:
        if question := did_you_mean(name, self.names, at_least=70):
            return question
        return f"the parameters are: {', '.join(self.names)}" if self.names else "leave it out"


def signature_of(fn: Callable[..., object], described: Mapping[str, str]) -> Signature:
    """Read a function's parameters; `described` has what its docstring says of them.

    Raises `DeclarationError` for a function that no JSON object of arguments could call.
    """
    try:
        return _read(list(_parameters(fn)), described, fn.__module__)
    except Exception as error:  # reading annotations runs code that is not ours
        cause = str(error).partition("\n")[0]
        raise DeclarationError(f"{_where(fn)} cannot become a tool: {cause}") from error


def _parameters(fn: Callable[..., object]) -> Iterator[Parameter]:
    """Each with its type. What the function returns is left alone: that type need not resolve."""
    inner: Callable[..., object] = inspect.unwrap(getattr(fn, "func", fn))
    names = getattr(inner, "__globals__", None) or getattr(inner.__call__, "__globals__", {})
    for parameter in inspect.signature(fn).parameters.values():
        hint = parameter.annotation
        evaluated = eval(hint, names) if isinstance(hint, str) else hint  # noqa: S307 - fn's own code
        yield parameter.replace(annotation=evaluated)


def _read(parameters: Sequence[Parameter], described: Mapping[str, str], module: str) -> Signature:
    named = [one for one in parameters if one.kind is not Parameter.VAR_KEYWORD]
    config = ConfigDict(extra="forbid" if len(named) == len(parameters) else "allow")
    fields: dict[str, Any] = {
        _field(at): _definition(one, described.get(one.name)) for at, one in enumerate(named)
    }
    model = create_model("Arguments", __config__=config, __module__=module, **fields)
    schema = model.model_json_schema(schema_generator=_PlainSchema)
    return Signature(
        model,
        {key: value for key, value in schema.items() if key != "title"},
        tuple(one.name for one in named),
        frozenset(one.name for one in named if one.kind is Parameter.POSITIONAL_ONLY),
    )


def _definition(parameter: Parameter, text: str | None) -> tuple[object, object]:
    """Type and default. A description in the annotation wins over the one in the docstring."""
    if parameter.kind is Parameter.VAR_POSITIONAL:
        raise TypeError(f"*{parameter.name} has no name in JSON; take a list parameter instead")
    hint = object if parameter.annotation is Parameter.empty else parameter.annotation
    text = FieldInfo.from_annotation(hint).description or text
    default = ... if parameter.default is Parameter.empty else parameter.default
    return Annotated[hint, Field(alias=parameter.name, description=text)], default


def _field(at: int) -> str:
    return f"p{at}"


def _where(fn: Callable[..., object]) -> str:
    """Module, name and line, as far as the function has them."""
    code = getattr(fn, "__code__", None)
    line = f" (line {code.co_firstlineno})" if code else ""
    return f"{getattr(fn, '__module__', '?')}:{getattr(fn, '__qualname__', repr(fn))}{line}"


class _PlainSchema(GenerateJsonSchema):
    """Without the titles that pydantic makes of names: they cost tokens and say nothing new."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - the base asks so
        return False

    def emit_warning(self, kind: object, detail: str) -> None:
        """A default that is no JSON value is left out of the schema; the call still has it."""
