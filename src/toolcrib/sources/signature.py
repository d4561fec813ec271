"""How a Python function is called with JSON arguments: its schema, and the check of a call."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from toolcrib.errors import BadArguments, DeclarationError
from toolcrib.model import JsonObject

_INJECTED = {
    "langchain_core.tools.base.InjectedToolArg",
    "langchain_core.tools.base._DirectlyInjectedToolArg",
    "langchain_core.runnables.config.RunnableConfig",
    "pydantic_ai._run_context.RunContext",
    "agents.run_context.RunContextWrapper",
}


@dataclass(frozen=True, slots=True)
class Bound:
    """A checked call: what to pass by position and what by name."""

    by_position: Sequence[object]
    by_name: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function, as a pydantic model.

    A field of `model` is an ordinal whose alias is the parameter's name: so a parameter may have
    any name, also one that means something to pydantic. `injected` are the parameters that a
    framework fills in, and no model.
    """

    model: type[BaseModel]
    schema: JsonObject
    names: tuple[str, ...]
    positional_only: frozenset[str]
    injected: Mapping[str, Parameter]

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
        """The door tells what is missing or unknown, and what is near; this is for what is left."""
        name = ".".join(map(str, place))
        return f"{name!r}: {text}" + ("" if kind == "missing" else f", not {given!r:.80}")


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


def injection(hint: object) -> type | None:
    """The class by which a framework fills a parameter in, of its type; None if a model does.

    Known by name: the framework need not be there.
    """
    marks = [hint, get_origin(hint), *get_args(hint)]
    for kind in (mark if isinstance(mark, type) else type(mark) for mark in marks):
        if any(f"{base.__module__}.{base.__name__}" in _INJECTED for base in kind.__mro__):
            return kind
    return None


def _read(parameters: Sequence[Parameter], described: Mapping[str, str], module: str) -> Signature:
    injected = {one.name: one for one in parameters if injection(one.annotation)}
    taken = [one for one in parameters if one.name not in injected]
    named = [one for one in taken if one.kind is not Parameter.VAR_KEYWORD]
    config = ConfigDict(extra="forbid" if len(named) == len(taken) else "allow")
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
        injected,
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
