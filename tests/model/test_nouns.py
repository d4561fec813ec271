from collections.abc import Sequence
from dataclasses import FrozenInstanceError, fields
from weakref import WeakKeyDictionary

import pytest

from toolcrib.model import (
    EXCLUDE_NOTHING,
    AgentInfo,
    Answer,
    Call,
    CallContext,
    CallError,
    Capability,
    Deadline,
    DeferralTrigger,
    Entry,
    Hit,
    Match,
    NameFilter,
    Outcome,
    Query,
    SkillInfo,
    ToolInfo,
    Variant,
)

TOOL_FIELDS = """
    name description parameters source source_id permission_kind category tags searchable platforms
    enabled platform_available title display desc output_schema annotations search_hint defer pin
    required often_with flags meta schema_problem packaged named_by approval module
""".split()


def hit(name: str) -> Hit:
    return Hit(name, "tool", "builtin", None, "ready", "", 1.0, "", "read")


ANSWER = Answer("files", hits=(hit("read_file"), hit("write_file"), hit("list_directory")))


def test_a_tool_has_just_the_fields_of_the_design():
    assert sorted(field.name for field in fields(ToolInfo)) == sorted(TOOL_FIELDS)


def test_a_tool_about_which_little_is_said_is_visible_and_taken_to_write():
    tool = ToolInfo(name="x", description="")
    assert (tool.source, tool.permission_kind, tool.defer) == ("builtin", "write", "automatic")
    assert (tool.searchable, tool.enabled, tool.platform_available) == (True, True, True)
    assert (tool.platforms, tool.required, tool.pin) == (("all",), False, "")


@pytest.mark.parametrize(
    ("capability", "kind"), [(ToolInfo, "tool"), (SkillInfo, "skill"), (AgentInfo, "agent")]
)
def test_the_kind_is_the_class_s_and_no_field_of_the_capability(
    capability: type[Capability], kind: str
):
    assert capability.kind == kind
    assert capability(name="x", description="").kind == kind
    assert "kind" not in {field.name for field in fields(capability)}


NOUNS = [
    (ToolInfo(name="x", description=""), "name"),
    (SkillInfo(name="x", description=""), "body"),
    (AgentInfo(name="x", description=""), "url"),
    (Entry("x", "x", ToolInfo(name="x", description="")), "state"),
    (Query("x"), "text"),
    (Variant("x"), "weight"),
    (hit("x"), "score"),
    (ANSWER, "hits"),
    (Call("x"), "arguments"),
    (CallContext(Deadline(1)), "deadline"),
    (CallError("x", "call", "y"), "code"),
    (Outcome("done"), "content"),
]


@pytest.mark.parametrize(("noun", "field"), NOUNS, ids=lambda each: type(each).__name__)
def test_nouns_are_frozen_and_take_no_other_fields(noun: object, field: str):
    with pytest.raises(FrozenInstanceError):
        setattr(noun, field, "other")
    assert not hasattr(noun, "__dict__")


def test_two_capabilities_share_no_defaults():
    one, other = ToolInfo(name="x", description=""), ToolInfo(name="y", description="")
    assert one.display is not other.display
    assert one.parameters is not other.parameters


def test_an_answer_is_the_sequence_of_its_hits():
    assert isinstance(ANSWER, Sequence)
    assert len(ANSWER) == 3
    assert [each.name for each in ANSWER] == ["read_file", "write_file", "list_directory"]
    assert ANSWER[0] is ANSWER.hits[0]
    assert ANSWER[-1].name == "list_directory"
    assert ANSWER[1:] == ANSWER.hits[1:]
    assert ANSWER.hits[1] in ANSWER
    assert ANSWER.index(ANSWER.hits[2]) == 2


def test_an_answer_without_hits_is_false():
    assert ANSWER
    assert not Answer("nothing")


def test_a_match_is_a_pair_of_id_and_score():
    id, score = Match("read_file", 0.5)
    assert (id, score) == ("read_file", 0.5)


@pytest.mark.parametrize(
    ("text", "trigger"),
    [
        ("on", DeferralTrigger("on")),
        (" TRUE ", DeferralTrigger("on")),
        ("off", DeferralTrigger("off")),
        ("false", DeferralTrigger("off")),
        ("auto", DeferralTrigger("auto", 10)),
        ("Auto:0", DeferralTrigger("auto", 0)),
        ("auto:100", DeferralTrigger("auto", 100)),
        ("conversation:25", DeferralTrigger("conversation", 25)),
        ("conversation", DeferralTrigger("conversation", 10)),
    ],
)
def test_a_trigger_is_read_as_it_is_written(text: str, trigger: DeferralTrigger):
    assert DeferralTrigger.read(text) == trigger


@pytest.mark.parametrize(
    "text", ["", "yes", "auto:", "auto:101", "auto:-1", "on:5", "auto:5%", "auto:٣"]
)
def test_what_is_no_trigger_is_refused_with_those_there_are(text: str):
    with pytest.raises(ValueError, match="conversation:N or off"):
        DeferralTrigger.read(text)


def test_a_call_takes_arguments_as_they_come():
    assert Call.of("f", {"a": 1}, "p") == Call("f", {"a": 1}, pin="p")
    assert Call.of("f", '{"a": 1}') == Call("f", text='{"a": 1}')


def test_a_filter_leaves_out_its_names_or_all_others():
    less, only = NameFilter.without("ab"), NameFilter.only("ab")
    assert [name for name in "abc" if name in less] == ["a", "b"]
    assert [name for name in "abc" if name in only] == ["c"]
    assert [name for name in "abc" if name in less.letting("a")] == ["b"]
    assert [name for name in "abc" if name in only.letting("c")] == []


def test_a_filter_is_false_if_it_leaves_nothing_out():
    assert not EXCLUDE_NOTHING
    assert NameFilter.without("a")
    assert NameFilter.only("")


def test_a_filter_is_equal_to_itself_alone_and_may_be_forgotten():
    made = WeakKeyDictionary({NameFilter.without("a"): 1})
    assert not made
    assert NameFilter.without("a") != NameFilter.without("a")
