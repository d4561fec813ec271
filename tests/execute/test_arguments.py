from dataclasses import replace

import pytest

from tests.execute.counting import offered
from toolcrib.execute import arguments
from toolcrib.execute.arguments import ArgumentCheck, Checked
from toolcrib.execute.refusal import Refused
from toolcrib.model import JsonObject, ToolInfo
from toolcrib.pool.pins import pin

LAX: JsonObject = {"type": "object", "properties": {"path": {"type": "string"}, "at": {}}}


def tool(schema: JsonObject) -> ToolInfo:
    made = offered(schema=schema)
    return replace(made, pin=pin(made))


def check(schema: JsonObject, given) -> Checked:
    return ArgumentCheck().check(tool(schema), given)


def test_what_fits_is_sent_as_it_is():
    assert check(LAX, {"path": "x"}) == Checked({"path": "x"}, ())


def test_a_slip_is_put_right_though_the_schema_would_let_it_pass():
    assert check(LAX, {"arguments": {"path": "x"}}).arguments == {"path": "x"}


def test_a_key_that_the_schema_does_not_forbid_is_sent():
    assert check(LAX, {"path": "x", "other": 1}) == Checked({"path": "x", "other": 1}, ())


@pytest.mark.parametrize("more", [{"additionalProperties": True}, {"patternProperties": {".": {}}}])
def test_where_other_keys_are_expected_nothing_is_a_slip(more: JsonObject):
    given = {"arguments": {"path": "x"}}
    assert check({**LAX, **more}, given) == Checked(given, ())


@pytest.mark.parametrize("given", ["x", 5, None, [], "[1]"])
def test_arguments_are_an_object_whatever_the_schema_says(given):
    with pytest.raises(Refused) as caught:
        check({}, given)
    assert caught.value.error.code == "bad_arguments"
    assert "not an object" in caught.value.error.message


def test_a_refusal_has_the_whole_schema_and_the_first_few_problems():
    schema = {"properties": {f"k{n}": {"type": "integer"} for n in range(9)}}
    with pytest.raises(Refused) as caught:
        check(schema, {f"k{n}": "x" for n in range(9)})
    assert caught.value.error.schema == schema
    assert caught.value.error.message.count("$.") == arguments.MOST_PROBLEMS


def test_a_check_is_made_once_for_a_definition(monkeypatch: pytest.MonkeyPatch):
    made: list[object] = []
    gate = arguments.gate
    monkeypatch.setattr(arguments, "gate", lambda schema: (made.append(schema), gate(schema))[1])
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
