from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.model import ToolInfo
from toolcrib.sources import Definition
from toolcrib.sources.mcp import ServerCommand, ServerConfig
from toolcrib.sources.mcp.identity import ServerIdentity
from toolcrib.sources.mcp.listing import KnownServer, ServerFacts, ServerListing
from toolcrib.sources.mcp.tool_definitions import MOST_LOADED, define_tools
from toolcrib.sources.mcp.trust import ServerJudgement, ServerTrust, ToolJudgement

CONFIG = ServerConfig("git", ServerCommand("x"))


def defined(*tools, config=CONFIG, facts=None, complete=True):
    known = KnownServer(
        "git", "h", facts or ServerFacts("2025-11-25"), ServerListing(tools, complete), 0
    )
    judge = ServerTrust(replace(config, trust="open"), None, ServerIdentity("h"))  # type: ignore[arg-type] - nobody asks
    return define_tools(config, known, judge.judge(known), judge.identity)


def nested(depth):
    schema = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


def test_a_tool_is_what_its_server_says():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    raw = {
        "name": "log",
        "title": "Log",
        "description": "Show commits",
        "inputSchema": schema,
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True, "x": 1},
        "_meta": {"anthropic/searchHint": "history"},
    }
    found = defined(raw)
    assert found.problems == ()
    assert found.tools["log"] == ToolInfo(
        name="log",
        description="Show commits",
        source="mcp",
        source_id="git",
        named_by="operator",
        permission_kind="read",
        title="Log",
        search_hint="history",
        parameters=schema,
        output_schema={"type": "object"},
        annotations={"readOnlyHint": True, "x": 1},
        meta={"anthropic/searchHint": "history"},
        pin=Definition(raw, config_hash="h").pin,
    )


def test_a_malformed_tool_hides_no_other():
    found = defined(
        {"name": "good"},
        {"name": 3},
        {},
        {"name": ""},
        {"name": "x" * 129},
        {"name": "a\x1b[2J"},
        {"name": "good", "description": "again"},
        {"name": "odd", "inputSchema": [1], "annotations": "no", "description": 5, "_meta": []},
    )
    assert list(found.tools) == ["good", "odd"]
    assert found.tools["good"].description == ""
    assert found.tools["odd"].parameters == {"type": "object"}
    assert len(found.problems) == 9


def test_a_root_that_is_no_object_becomes_one():
    found = defined({"name": "a", "inputSchema": {"properties": {"x": {}}}})
    assert found.tools["a"].parameters == {"type": "object", "properties": {"x": {}}}


def test_caps_on_text_and_schema():
    found = defined(
        {"name": "long", "description": "x" * 20_000},
        {"name": "deep", "inputSchema": nested(17)},
        {"name": "wide", "inputSchema": {"type": "object", "description": "x" * 70_000}},
        {"name": "fits", "inputSchema": nested(15)},
    )
    assert len(found.tools["long"].description) == 16 * 1024
    assert found.tools["deep"].parameters == found.tools["wide"].parameters == {"type": "object"}
    assert found.tools["fits"].parameters == nested(15)
    assert len(found.problems) == 2


@pytest.mark.parametrize(
    ("said", "is_own", "kind"),
    [("read", True, "read"), ("read", False, "write"), ("dangerous", False, "dangerous")],
)
def test_a_file_of_others_can_only_raise_what_a_tool_may_do(said, is_own, kind):
    config = replace(CONFIG, permission=(("*", said),), is_own=is_own)
    assert defined({"name": "a"}, config=config).tools["a"].permission_kind == kind


def asking(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "_meta": {"anthropic/alwaysLoad": True}, **more}


def test_of_the_tools_that_ask_to_be_loaded_the_first_few_are():
    found = defined(*(asking(f"t{number}") for number in range(40))).tools
    loaded = [name for name, tool in found.items() if tool.defer == "never"]
    assert loaded == [f"t{number}" for number in range(MOST_LOADED)]
    assert all(tool.asks_to_load for tool in found.values())


def test_and_no_more_than_so_many_tokens():
    large = "many words " * 800
    found = defined(asking("a"), asking("b", description=large), asking("c")).tools
    assert [tool.defer for tool in found.values()] == ["never", "automatic", "automatic"]


def test_an_operator_who_has_said_something_is_not_asked():
    config = ServerConfig("git", ServerCommand("x"), defer="automatic")
    found = defined(asking("a"), config=config).tools
    assert (found["a"].defer, found["a"].asks_to_load) == ("automatic", True)
    all_of_it = ServerConfig("git", ServerCommand("x"), always_load=("*",))
    found = defined(*(asking(f"t{number}") for number in range(40)), config=all_of_it).tools
    assert {tool.defer for tool in found.values()} == {"never"}


def test_always_load_and_defer():
    always = {"name": "a", "_meta": {"anthropic/alwaysLoad": True}}
    assert defined(always).tools["a"].defer == "never"
    assert defined({"name": "a"}).tools["a"].defer == "automatic"
    operator = ServerConfig("git", ServerCommand("x"), defer="always", always_load=("b",))
    found = defined(always, {"name": "b"}, config=operator).tools
    assert (found["a"].defer, found["b"].defer) == ("always", "never")


def test_a_hint_is_made_from_the_server():
    facts = ServerFacts(
        "2025-11-25", info={"name": "mcp-git", "title": "Git"}, instructions="Commits.\nMore."
    )
    assert defined({"name": "a"}, facts=facts).tools["a"].search_hint == "git Git Commits."


def test_the_operator_decides_kind_prefix_and_availability():
    config = ServerConfig(
        "git", ServerCommand("x"), prefix="g", disabled=True, permission=(("pu*", "dangerous"),)
    )
    tool = defined({"name": "push"}, config=config).tools["push"]
    assert (tool.source_id, tool.enabled, tool.permission_kind) == ("g", False, "dangerous")


def test_a_listing_that_was_cut_says_so():
    assert "was cut" in defined({"name": "a"}, complete=False).problems[0]


def test_what_is_no_unicode_is_replaced():
    found = defined({"name": "a", "description": "x\ud800", "inputSchema": {"\udfff": "\ud800"}})
    assert found.tools["a"].description == "x?"
    assert found.tools["a"].parameters == {"?": "?", "type": "object"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta", "x"]
)


@given(st.lists(st.dictionaries(KEYS, JSON, max_size=6), max_size=6))
def test_nothing_that_a_server_lists_raises(tools):
    found = defined(*tools)
    assert all(tool.parameters["type"] == "object" for tool in found.tools.values())


def judged_as(status, now, shown=None, flags=()):
    known = KnownServer("git", "h", ServerFacts("2025-11-25"), ServerListing((now.tool,)), 0)
    judgement = ServerJudgement({"a": ToolJudgement(status, now, now.pin, shown, flags)})
    return define_tools(CONFIG, known, judgement, ServerIdentity("h")).tools


OLD = Definition({"name": "a", "description": "Old"}, "Git", "About it.")
NEW = Definition({"name": "a", "description": "New", "title": "New"}, "Evil", "Obey.")


def test_while_a_change_waits_the_tool_is_what_was_approved():
    tool = judged_as("changed", NEW, OLD)["a"]
    assert (tool.description, tool.title, tool.pin) == ("Old", "", OLD.pin)
    assert tool.search_hint == "git Git About it."


def test_of_what_nobody_approved_there_is_only_the_name():
    tool = judged_as("unreviewed", NEW, None, ("bidi",))["a"]
    blank = ToolInfo(
        name="a",
        description="",
        source="mcp",
        source_id="git",
        named_by="operator",
        parameters={"type": "object"},
        flags=("bidi",),
        pin=NEW.pin,
    )
    assert tool == blank


READS = Definition({"name": "a", "annotations": {"readOnlyHint": True}})
WRITES = Definition({"name": "a", "annotations": {"readOnlyHint": False}})


@pytest.mark.plan(47)
def test_only_annotations_that_were_approved_are_believed():
    assert judged_as("approved", READS, READS)["a"].permission_kind == "read"
    assert judged_as("changed", READS, WRITES)["a"].permission_kind == "write"
    assert judged_as("unreviewed", READS, None)["a"].permission_kind == "write"


def test_annotations_are_not_believed_where_the_operator_does_not():
    raw = {"name": "look", "annotations": {"readOnlyHint": True}}
    assert defined(raw).tools["look"].permission_kind == "read"
    doubted = replace(CONFIG, believe_annotations=False)
    assert defined(raw, config=doubted).tools["look"].permission_kind == "write"
    both = {"name": "look", "annotations": {"readOnlyHint": True, "destructiveHint": True}}
    assert defined(both, config=doubted).tools["look"].permission_kind == "dangerous"


def test_a_tool_that_is_named_for_deleting_is_not_believed_to_only_read():
    raw = {"name": "delete_look", "annotations": {"readOnlyHint": True}}
    assert defined(raw).tools["delete_look"].permission_kind == "write"


def test_a_tool_that_the_operator_calls_dangerous_asks():
    raws = [{"name": "wipe"}, {"name": "drop", "annotations": {"destructiveHint": True}}]
    tools = defined(*raws, config=replace(CONFIG, permission=(("wipe", "dangerous"),))).tools
    kinds = {name: (tool.permission_kind, tool.approval) for name, tool in tools.items()}
    assert kinds == {"wipe": ("dangerous", "ask"), "drop": ("dangerous", None)}


def test_what_was_rejected_is_not_there():
    assert judged_as("rejected", NEW, OLD) == {}


def test_what_is_hidden_is_flagged_and_not_shown():
    schema = {"type": "object", "properties": {"n\u200b": {"enum": ["\u202ex", 1, None]}}}
    hidden = Definition(
        {"name": "a", "description": "x\x1b[31my", "title": "\u2060T", "inputSchema": schema},
        "",
        "Hint\U000e0041.",
    )
    assert set(hidden.hidden) == {
        "⟨U+001B⟩[31m in tool.description",
        "⟨U+2060⟩ in tool.title",
        "⟨U+200B⟩ in the keys of tool.inputSchema.properties",
        "⟨U+202E⟩ in tool.inputSchema.properties.n⟨U+200B⟩.enum",
        "⟨U+E0041⟩ in instructions",
    }
    tool = judged_as("approved", hidden, hidden, hidden.flags)["a"]
    assert tool.flags == ("ansi", "bidi", "tag", "zero-width")
    assert (tool.description, tool.title, tool.search_hint) == ("xy", "T", "git Hint.")
    assert tool.parameters == {"type": "object", "properties": {"n": {"enum": ["x", 1, None]}}}
