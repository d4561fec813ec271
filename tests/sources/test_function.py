import asyncio
import functools
import json
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from agents import RunContextWrapper
from agents.tool_context import ToolContext
from pydantic import BaseModel, Field
from pydantic_ai import RunContext

from toolcrib.crib import Crib
from toolcrib.errors import DeclarationError
from toolcrib.lint import lint
from toolcrib.sources import tool
from toolcrib.sources.function import function_from, is_declared


class Colour(Enum):
    RED = "red"


class Point(BaseModel):
    x: int
    y: int = 0


def read_part(path: "str", limit: "int" = 1): ...


def tool_of(fn, **facts):
    return function_from(fn, **facts).info


def schema(fn, **facts):
    return json.loads(json.dumps(tool_of(fn, **facts).parameters))


def test_a_plain_function_is_a_write_tool_named_and_described_by_its_code():
    def send_mail(to: str):
        """Send a mail.

        Args:
            to: Who gets it.
        """

    info = tool_of(send_mail)
    assert (info.name, info.description) == ("send_mail", "Send a mail.")
    assert (info.kind, info.source, info.permission_kind) == ("tool", "builtin", "write")
    assert info.parameters == {
        "type": "object",
        "properties": {"to": {"type": "string", "description": "Who gets it."}},
        "required": ["to"],
        "additionalProperties": False,
    }


def test_defaults_literals_optionals_and_lists_show_in_the_schema():
    def fn(mode: Literal["a", "b"] = "a", size: int | None = None, tags: list[str] = []): ...  # noqa: B006

    properties = schema(fn)["properties"]
    assert properties["mode"] == {"type": "string", "enum": ["a", "b"], "default": "a"}
    assert properties["size"] == {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
    assert properties["tags"] == {"type": "array", "items": {"type": "string"}, "default": []}
    assert "required" not in schema(fn)


def test_models_and_enums_are_definitions_within_the_schema():
    def fn(at: Point, colour: Colour = Colour.RED): ...

    made = schema(fn)
    assert made["properties"]["at"]["$ref"] == "#/$defs/Point"
    assert made["$defs"]["Point"]["required"] == ["x"]
    assert made["$defs"]["Colour"]["enum"] == ["red"]
    assert made["properties"]["colour"]["default"] == "red"


def test_a_description_in_the_annotation_wins_over_the_docstring():
    def fn(
        a: Annotated[int, Field(description="from the annotation", ge=1)],
        b: int = Field(2, description="from the default"),
    ):
        """Do.

        Args:
            a: from the docstring
            b: from the docstring
        """

    properties = schema(fn)["properties"]
    assert properties["a"]["description"] == "from the annotation"
    assert properties["a"]["minimum"] == 1
    assert properties["b"] == {"type": "integer", "default": 2, "description": "from the default"}


def test_a_parameter_without_a_type_takes_any_json_value():
    def fn(a, b=object()): ...  # noqa: B008

    assert schema(fn)["properties"] == {"a": {}, "b": {}}
    assert schema(fn)["required"] == ["a"]


def test_keywords_of_any_name_leave_the_schema_open():
    def fn(a: int, **rest: int): ...

    assert schema(fn)["additionalProperties"] is True
    assert list(schema(fn)["properties"]) == ["a"]


def test_names_that_mean_something_to_pydantic_are_names_like_others():
    def fn(json: str, model_config: int, _hidden: int, self_: int, schema: int = 1): ...

    assert list(schema(fn)["properties"]) == ["json", "model_config", "_hidden", "self_", "schema"]


def test_annotations_may_be_text_and_the_return_type_need_not_resolve():
    def fn(at: "Point") -> "Missing": ...  # noqa: F821 # pyright: ignore[reportUndefinedVariable]

    assert schema(fn)["properties"]["at"] == {"$ref": "#/$defs/Point"}


def test_methods_wrapped_functions_and_callable_objects_are_tools():
    class Greeter:
        def greet(self, name: "str"):
            """Greet."""

        def __call__(self, times: "int"): ...

    @functools.wraps(read_part)
    def wrapped(*args, **kwargs): ...

    assert list(schema(Greeter().greet)["properties"]) == ["name"]
    assert list(schema(Greeter(), name="g")["properties"]) == ["times"]
    assert list(schema(wrapped)["properties"]) == ["path", "limit"]
    bound = functools.partial(read_part, limit=3)
    assert schema(bound, name="p")["required"] == ["path"]


def test_positional_arguments_without_names_are_refused():
    def fn(*numbers: int): ...

    with pytest.raises(DeclarationError, match=r"fn \(line \d+\).*\*numbers.*list parameter"):
        tool_of(fn)


def test_a_type_without_json_is_refused():
    def fn(callback: Callable[[int], int]): ...

    with pytest.raises(DeclarationError, match=r"fn.*cannot become a tool"):
        tool_of(fn)


def test_a_type_that_does_not_resolve_is_refused():
    def fn(a: "Missing"): ...  # noqa: F821 # pyright: ignore[reportUndefinedVariable]

    with pytest.raises(DeclarationError, match="'Missing' is not defined"):
        tool_of(fn)


def test_a_function_without_a_name_needs_one():
    with pytest.raises(DeclarationError, match="name="):
        tool_of(lambda: None)
    assert tool_of(lambda: None, name="nothing").name == "nothing"


def test_the_decorator_bare_leaves_the_function_as_it_is():
    @tool
    def double(n: int) -> int:
        return 2 * n

    assert double(2) == 4
    assert is_declared(double)
    assert tool_of(double).permission_kind == "write"


def test_the_decorator_attaches_facts_and_later_facts_win():
    @tool(name="twice", permission_kind="read", tags=["math"], title="Twice")
    def double(n: int) -> int:
        """Double it."""
        return 2 * n

    info = tool_of(double)
    assert (info.name, info.permission_kind, info.tags) == ("twice", "read", ("math",))
    assert info.description == "Double it."
    assert tool_of(double, name="other", description="x").title == "Twice"
    assert tool_of(double, name="other").name == "other"


def test_attached_facts_cannot_be_changed():
    @tool(permission_kind="read")
    def fn(): ...

    with pytest.raises(TypeError):
        vars(fn)["__toolcrib__"]["permission_kind"] = "dangerous"


@pytest.mark.parametrize(
    "facts", [{"permission_kind": "reed"}, {"permission_kind": ""}, {"defer": "no"}]
)
def test_a_word_that_is_none_is_refused(facts):
    def look() -> None:
        """Look."""

    (key,) = facts
    with pytest.raises(DeclarationError, match=f"look: {key}= takes one of "):
        tool_of(look, **facts)
    with pytest.raises(DeclarationError, match="takes one of "):
        Crib().add(look, **facts)
    with pytest.raises(DeclarationError, match="takes one of "):
        tool_of(tool(**facts)(look))


def test_all_of_a_docstring_is_found_and_a_long_one_is_said_to_be_long():
    def move(path: str) -> None:
        """Take a file elsewhere.

        Never for reports of the accounting department.

        Args:
            path: Where it is.
        """

    def long() -> None: ...

    long.__doc__ = "Take notes.\n\n" + "Also of meetings that nobody has attended. " * 30
    crib = Crib()
    info, _ = crib.add(move), crib.add(long)
    assert info.description.endswith("\n\nNever for reports of the accounting department.")
    assert [hit.name for hit in crib.search("accounting")] == ["move"]
    assert ("long-description", "long") in {
        (it.rule, it.name) for it in lint(crib.entries().values())
    }


@tool(permission_kind="read")
def look_up(word: str, language: str = "en") -> str:
    """Look a word up.

    Args:
        word: The word.
    """
    return f"{word} in {language}"


def test_a_partial_is_described_by_its_function():
    crib = Crib()
    info = crib.add(functools.partial(look_up, language="de"))
    assert (info.name, info.description) == ("look_up", "Look a word up.")
    assert (info.permission_kind, info.module) == ("read", __name__)
    assert schema(functools.partial(look_up, language="de"))["properties"]["word"]["description"]
    assert asyncio.run(crib.call("look_up", {"word": "Haus"})).content == "Haus in de"


def test_what_an_agent_framework_passes_is_no_argument_of_the_model():
    def book(ctx: RunContext[str], room: str, run: RunContextWrapper[Any]) -> str:
        """Book a room."""
        return f"{room} for {ctx.deps} and {run}"

    def cancel(context: ToolContext[Any], room: str) -> str:
        """Cancel a room."""
        return f"{room} {context}"

    assert list(schema(book)["properties"]) == list(schema(cancel)["properties"]) == ["room"]
