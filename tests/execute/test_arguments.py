import asyncio
import json
import resource
from dataclasses import replace

import pytest
from pydantic import BaseModel

from tests.execute.counting import offered
from toolcrib import Crib
from toolcrib.execute import ArgumentCheck, CallRefused, arguments
from toolcrib.execute.arguments import CheckedArguments
from toolcrib.execute.schema_gate import compile_schema
from toolcrib.model import JsonObject, ToolInfo
from toolcrib.pool.entries import pin

LAX: JsonObject = {"type": "object", "properties": {"path": {"type": "string"}, "at": {}}}


def tool(schema: JsonObject) -> ToolInfo:
    made = offered(schema=schema)
    return replace(made, pin=pin(made))


def check(schema: JsonObject, given) -> CheckedArguments:
    return ArgumentCheck().check(tool(schema), given)


def test_what_fits_is_sent_as_it_is():
    assert check(LAX, {"path": "x"}) == CheckedArguments({"path": "x"}, ())


def test_a_slip_is_put_right_though_the_schema_would_let_it_pass():
    assert check(LAX, {"arguments": {"path": "x"}}).arguments == {"path": "x"}


def test_a_key_that_the_schema_does_not_forbid_is_sent():
    assert check(LAX, {"path": "x", "other": 1}) == CheckedArguments({"path": "x", "other": 1}, ())


@pytest.mark.parametrize("more", [{"additionalProperties": True}, {"patternProperties": {".": {}}}])
def test_where_other_keys_are_expected_nothing_is_a_slip(more: JsonObject):
    given = {"arguments": {"path": "x"}}
    assert check({**LAX, **more}, given) == CheckedArguments(given, ())


@pytest.mark.parametrize("given", ["x", 5, None, [], "[1]"])
def test_arguments_are_an_object_whatever_the_schema_says(given):
    with pytest.raises(CallRefused) as caught:
        check({}, given)
    assert caught.value.error.code == "bad_arguments"
    assert "not an object" in caught.value.error.message


def test_a_refusal_has_the_whole_schema_and_the_first_problem():
    schema = {"properties": {f"k{n}": {"type": "integer"} for n in range(9)}}
    with pytest.raises(CallRefused) as caught:
        check(schema, {f"k{n}": "x" for n in range(9)})
    assert caught.value.error.schema == schema
    assert caught.value.error.message.count("$.") == 1


def test_the_problems_of_many_values_are_not_gathered():
    """Gathered, they take gigabytes: each has all that would have fit."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    schema = {"properties": {"a": {"items": {"enum": [f"v{n}" for n in range(6_000)]}}}}
    with pytest.raises(CallRefused, match=r"\$\.a\[0\]"):
        check(schema, {"a": ["w"] * 8_000})
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


def test_a_check_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(arguments, "CHECK_S", -1.0)
    with pytest.raises(CallRefused, match="too long") as caught:
        check({"properties": {"a": {"items": {}}}}, {"a": [1] * 10_000})
    assert caught.value.error.code == "schema_refused"


def test_texts_that_hold_more_values_than_may_be_sent_are_not_read():
    many = json.dumps([0] * 1_000)
    schema = {"properties": {"a": {"type": "array", "items": {"type": "array"}}}}
    read = check(schema, {"a": [many] * 3}).arguments
    assert read == {"a": [[0] * 1_000] * 3}
    with pytest.raises(CallRefused) as caught:
        check(schema, {"a": [many] * 100})
    assert caught.value.error.code == "bad_arguments"


def test_only_a_known_check_of_little_takes_a_moment():
    checks, made = ArgumentCheck(), tool(LAX)
    assert not checks.takes_a_moment(made, {})
    checks.check(made, {})
    assert checks.takes_a_moment(made, {"path": "x"})
    assert not checks.takes_a_moment(made, {"path": ["x"] * 1_000})
    assert not checks.takes_a_moment(made, {"path": "x" * 100_000})


def test_a_check_is_made_once_for_a_definition(monkeypatch: pytest.MonkeyPatch):
    made: list[object] = []
    compile_schema = arguments.compile_schema
    counting = lambda schema: (made.append(schema), compile_schema(schema))[1]  # noqa: E731
    monkeypatch.setattr(arguments, "compile_schema", counting)
    checks = ArgumentCheck()
    for schema in (LAX, LAX, {}, LAX):
        checks.check(tool(schema), {})
    assert made == [LAX, {}]


def test_the_checks_that_were_used_last_are_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(arguments, "MOST_CHECKS", 2)
    checks = ArgumentCheck()
    for number in range(5):
        checks.check(tool({"title": str(number)}), {})
    assert len(checks._checks) == 2


class Place(BaseModel):
    floor: int


WRONG: dict[str, tuple[JsonObject, str]] = {
    "a slip": ({"rom": "a"}, "$: Missing: room. Unknown: rom, did you mean room? Correct them by"),
    "two unknown": (
        {"room": "a", "rooms": 1, "z": 2},
        "Unknown: rooms, did you mean room?; z. Cor",
    ),
    "of several types": (
        {"room": "a", "seats": [1]},
        "$.seats: expected integer or null, not [1].",
    ),
    "inside": ({"room": "a", "at": {"x": 1}}, '$.at: "floor" is a required property. Correct'),
    "a short name beside it": (
        {"rom": "a"},
        "Missing: room. Unknown: rom, did you mean room?",
    ),
    "in a list": ({"room": "a", "m": [1, 2]}, '$.m[0]: 1 is not of type "string". Correct'),
    "no object": ({"room": "a", "at": 3}, "$.at: expected object or null, not 3."),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_said_in_words_for_people(case: str):
    def book(
        room: str,
        seats: int | None = None,
        at: Place | None = None,
        m: list[str] | None = None,
    ) -> str:
        """Book a room."""
        return f"{room} {seats} {at} {m}"

    arguments, message = WRONG[case]
    with Crib() as crib:
        crib.add(book)
        error = asyncio.run(crib.call("book", arguments)).error
    assert error
    assert message in error.message
    assert "anyOf" not in error.message


def test_long_and_many_unknown_keys_are_shortened():
    schema: JsonObject = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    problem = compile_schema(schema).problem({f"{'b' * 9_000}{at}": 1 for at in range(900)})
    assert problem
    assert len(problem.message) < 400
