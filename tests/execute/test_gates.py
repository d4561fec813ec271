import pytest

from tests.execute.counting import ANN, offered
from toolcrib.access import Scope
from toolcrib.execute import Caller, CallRefused
from toolcrib.execute.gates import check_rights, check_state, copy_arguments
from toolcrib.model import AgentInfo, Call, Entry, SkillInfo

TOOL = offered()
ENTRY = Entry("look", "look", TOOL)


def test_a_tool_that_can_be_called_passes():
    assert check_state(ENTRY, "") is TOOL
    check_rights(ENTRY, ANN)


@pytest.mark.parametrize(
    ("other", "todo"),
    [
        (SkillInfo(name="x", description=""), "read it"),
        (AgentInfo(name="x", description=""), "hand it the work"),
    ],
)
def test_what_is_no_tool_is_refused_with_what_to_do_with_it(other, todo: str):
    with pytest.raises(CallRefused, match=todo):
        check_state(Entry("x", "x", other), "")


def test_a_refusal_for_want_of_a_right_names_the_filter():
    with pytest.raises(CallRefused, match="excluded"):
        check_rights(ENTRY, Caller("ann", Scope(excluded=frozenset({"look"}))))


def test_arguments_are_copied():
    inner = [1]
    taken = copy_arguments(Call("look", {"a": inner}), TOOL)
    inner.append(2)
    assert taken == {"a": [1]}


def test_text_is_read_and_stands_for_the_arguments():
    assert copy_arguments(Call("look", {"a": 1}, text='{"b": 2}'), TOOL) == {"b": 2}


@pytest.mark.parametrize("value", [object(), float("nan"), {1}])
def test_what_no_json_can_say_is_refused(value):
    with pytest.raises(CallRefused, match="JSON"):
        copy_arguments(Call("look", {"a": value}), TOOL)
