"""One conversation: what it sees, finds and may call."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread, get_ident

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.deck import ALL, PINNED, crib_of, names, only, plenty
from tests.workshop import READ_FILE, ListedSource, mcp
from toolcrib import Caller, Crib, Scope, Settings, ToolInfo
from toolcrib.crib import inventory_of, searcher_of
from toolcrib.errors import ConfigError
from toolcrib.execute import per_request_tools
from toolcrib.model import JsonObject, Outcome
from toolcrib.session import Session, revealed_in
from toolcrib.sources.skills import SkillSource
from toolcrib.text import tool_definition


def called(session: Session, name: str, arguments: JsonObject | str = "{}") -> Outcome:
    return asyncio.run(session.call(name, arguments))


def code(outcome: Outcome) -> str:
    assert outcome.error
    return outcome.error.code


def listed(session: Session) -> list[str]:
    return names(session.active_tools())


def test_at_first_there_is_the_core_and_the_search_tool():
    session = crib_of().session("1")
    assert session.deferring
    assert listed(session) == ["ask_person", "tool_search"]
    assert names(session.core_tools()) == ["ask_person"]
    assert session.stable_tools() == session.active_tools()
    assert "read_file" in names(session.deferred_tools())
    assert {"erase_file", "shred_file", "tag_file"}.isdisjoint(names(session.deferred_tools()))


def test_what_a_search_finds_stays_in_the_order_of_its_first_reveal():
    crib = crib_of()
    session = crib.session("1")
    assert session.search("select:search_web,read_file").revealed == ("search_web", "read_file")
    again = session.search("select:read_file,current_time")
    assert again.revealed == ("current_time",)
    assert names(again.tools) == ["read_file", "current_time"]
    revealed = ["search_web", "read_file", "current_time"]
    assert names(session.revealed_tools()) == revealed
    assert listed(session) == listed(crib.session("1")) == ["ask_person", "tool_search", *revealed]
    assert "search_web" in names(session.deferred_tools())


def test_two_sessions_never_see_each_others_reveals():
    crib = crib_of()
    one, other = crib.session("1"), crib.session("2")
    one.search("select:read_file")
    other.search("select:search_web")
    assert names(one.revealed_tools()) == ["read_file"]
    assert names(other.revealed_tools()) == ["search_web"]
    assert not crib.session("1", caller=Caller("bob")).revealed_tools()
    assert not crib.session().revealed_tools()


def test_without_an_id_nothing_is_shared():
    crib = crib_of()
    session = crib.session()
    session.search("select:read_file")
    assert names(session.revealed_tools()) == ["read_file"]
    assert not crib.session().revealed_tools()


def test_a_restart_loses_no_reveal(tmp_path: Path):
    store = str(tmp_path / "catalog.db")
    with crib_of(store=store) as crib:
        crib.session("1").search("select:search_web,read_file")
        before = listed(crib.session("1"))
    with crib_of(store=store) as crib:
        assert listed(crib.session("1")) == before


def test_a_caller_finds_and_sees_nothing_that_is_not_theirs():
    session = crib_of().session("1", caller=only("read_*", "ask_*"), tool_search="auto:0")
    assert listed(session) == ["ask_person", "read_file"]
    crib = crib_of(ALL, threshold=1)
    session = crib.session("1", caller=only("read_*", "search_*"))
    assert names(session.deferred_tools()) == ["read_file", "search_web"]
    found = session.search(queries=["write text to a file", "select:write_file,search_web"])
    assert "write_file" not in names(found.tools)
    assert "write_file(" not in found.text()
    session.see(["write_file", "read_file"])
    assert set(names(session.revealed_tools())) == {"search_web", "read_file"}
    assert code(called(session, "write_file", {"path": "x"})) == "not_allowed"


def test_what_the_caller_has_already_is_neither_listed_nor_found():
    session = crib_of().session(bound=["read_file", "ask_person"])
    assert listed(session) == ["tool_search"]
    assert "read_file" not in names(session.search("read a text file").tools)
    assert called(session, "ask_person").ok


def test_a_revealed_tool_that_is_gone_or_barred_drops_out():
    source = ListedSource(*ALL)
    crib = crib_of(())
    crib.add_source(source)
    session = crib.session("1")
    session.search("select:read_file,search_web,current_time")
    source.listed = [each for each in ALL if each.name != "search_web"]
    inventory_of(crib).pool.refresh(source)
    assert names(session.revealed_tools()) == ["read_file", "current_time"]
    barred = Caller("host", Scope(excluded=frozenset({"read_file"})))
    assert names(crib.session("1", caller=barred).revealed_tools()) == ["current_time"]
    source.listed = ALL
    inventory_of(crib).pool.refresh(source)
    assert names(session.revealed_tools()) == ["read_file", "search_web", "current_time"]


def test_a_revealed_tool_has_the_definition_that_is_there_now():
    source = ListedSource(*ALL)
    crib = crib_of(())
    crib.add_source(source)
    session = crib.session("1")
    session.search("select:read_file")
    new = replace(READ_FILE, description="Read it all")
    source.listed = [new if each is READ_FILE else each for each in ALL]
    inventory_of(crib).pool.refresh(source)
    assert session.revealed_tools()[0].description == "Read it all"


def test_a_tool_that_no_search_revealed_is_refused_with_the_way_to_it():
    session = crib_of().session("1")
    outcome = called(session, "read_file", {"path": "x"})
    assert code(outcome) == "not_revealed"
    assert outcome.error
    assert outcome.error.effect == "not_sent"
    assert "'select:read_file'" in outcome.error.message
    assert "write_file" in outcome.error.message
    assert code(called(session, "send_message")) == "not_revealed"
    assert called(session, "tool_search", {"query": "select:read_file"}).ok
    assert called(session, "read_file", {"path": "x"}).ok


def test_a_name_that_nothing_has_is_refused_by_the_door():
    assert code(called(crib_of().session(), "raed_file")) == "unknown_tool"
    assert code(called(crib_of().session(), "create_issue")) == "ambiguous_name"


def test_a_function_that_was_just_added_waits_like_any_other():
    def pour_tea(cups: int) -> int:
        """Pour tea."""
        return cups

    crib = crib_of()
    session = crib.session()
    crib.add(pour_tea, permission_kind="read")
    assert code(called(session, "pour_tea", {"cups": 1})) == "not_revealed"


def test_a_tool_of_the_request_alone_needs_no_search():
    def read_file(path: str) -> str:
        """Read it here."""
        return f"here: {path}"

    crib = crib_of()
    with per_request_tools(read_file):
        outcome = called(crib.session(), "read_file", {"path": "x"})
    assert outcome.content == "here: x"


def test_what_a_person_would_be_asked_is_known_beforehand():
    session = crib_of().session("1")
    assert session.question("write_file", {"path": "x"}) is None  # refused, so nobody is asked
    session.search("select:write_file,read_file")
    asked = session.question("write_file", '{"path": "x"}')
    assert asked
    assert (asked.name, asked.arguments) == ("write_file", {"path": "x"})
    assert session.question("read_file", {"path": "x"}) is None
    assert session.question("tool_search", {"query": "x"}) is None
    assert session.question("no_such_tool") is None


def test_a_question_reveals_nothing():
    session = crib_of(auto_reveal=True).session("1")
    assert session.question("write_file", {"path": "x"})
    assert session.revealed_tools() == ()


def test_auto_reveal_calls_what_fits_and_refuses_what_does_not():
    strict: JsonObject = {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    }
    tool = ToolInfo(name="tell", description="Tell", permission_kind="read", parameters=strict)
    session = crib_of((*ALL, tool), auto_reveal=True).session("1")
    assert code(called(session, "tell", {"days": 3})) == "not_revealed"
    assert not session.revealed_tools()
    assert called(session, "tell", '{"city": "Oslo"}').ok
    assert names(session.revealed_tools()) == ["tell"]
    assert code(called(session, "tell", {"days": 3})) == "bad_arguments"


def test_the_search_tool_answers_in_text_and_in_names():
    session = crib_of().session("1")
    outcome = called(
        session, "tool_search", '{"queries": ["select:read_file", "select:search_web"]}'
    )
    assert isinstance(outcome.content, str)
    assert outcome.structured == {
        "tools": ["read_file", "search_web"],
        "revealed": ["read_file", "search_web"],
    }
    assert revealed_in(outcome.content) == ("read_file", "search_web")
    alias = called(session, "search_capability", {"query": "select:read_file"})
    assert alias.structured == {"tools": ["read_file"], "revealed": []}


@pytest.mark.parametrize("arguments", ['{"query": ', {"limit": "many"}, {"kinds": ["tools"]}])
def test_arguments_that_do_not_fit_come_back_with_the_schema(arguments: JsonObject | str):
    outcome = called(crib_of().session(), "tool_search", arguments)
    assert code(outcome) == "bad_arguments"
    assert outcome.error
    assert outcome.error.schema


def test_the_search_tool_is_the_sessions_alone():
    crib = crib_of()
    assert code(asyncio.run(crib.call("tool_search", {"query": "x"}))) == "unknown_tool"
    assert "tool_search" not in names(crib.session().search("tool_search").tools)


def test_a_search_does_not_hold_up_the_event_loop():
    crib = crib_of()
    session = crib.session()
    threads: list[int] = []
    searcher = searcher_of(crib)
    search = searcher.search
    searcher.search = lambda *a, **k: (threads.append(get_ident()), search(*a, **k))[1]
    assert called(crib.session(), "tool_search", {"query": "select:read_file"}).ok
    assert threads
    assert get_ident() not in threads
    assert not session.revealed_tools()


def test_to_browse_reveals_nothing():
    session = crib_of().session()
    found = session.search()
    assert not found.revealed
    assert not session.search("").revealed
    assert "builtin" in found.text()


def test_a_search_reveals_no_more_than_eight():
    session = crib_of(plenty(60)).session()
    queries = [f"select:{','.join(f'turn_gear_{n}' for n in range(k, k + 8))}" for k in (0, 8, 16)]
    assert len(session.search(queries=queries).revealed) == 8
    assert len(session.revealed_tools()) == 8


def test_the_conversation_itself_says_what_was_revealed():
    session = crib_of().session()
    session.see(["search_web", "no_such_tool", "ask_person", "read_file", "search_web"])
    assert names(session.revealed_tools()) == ["search_web", "read_file"]
    assert listed(session) == ["ask_person", "tool_search", "search_web", "read_file"]


def test_after_compaction_the_reveals_are_those_still_in_the_conversation():
    crib = crib_of()
    session = crib.session("1")
    session.search("select:search_web,read_file,current_time")
    session.compacted({"current_time", "search_web", "other"})
    assert names(crib.session("1").revealed_tools()) == ["search_web", "current_time"]
    assert code(called(session, "read_file", {"path": "x"})) == "not_revealed"
    session.clear()
    assert not crib.session("1").revealed_tools()


def test_a_growing_conversation_begins_to_defer_and_keeps_what_it_called():
    session = crib_of().session("1", tool_search="conversation:10", context_window=1_000)
    assert not session.deferring
    assert session.search_tool is None
    assert session.system_note() == session.deferred_summary() == ""
    assert called(session, "read_file", {"path": "x"}).ok
    session.used(99)
    assert not session.deferring
    session.used(100)
    assert listed(session) == ["ask_person", "tool_search", "read_file"]
    session.used(5)
    assert session.deferring
    session.compacted(["read_file"])
    assert not session.deferring


def test_off_shows_everything_and_search_still_works():
    session = crib_of().session(tool_search="off")
    assert "read_file" in listed(session)
    assert "tool_search" not in listed(session)
    found = session.search("select:read_file")
    assert (found.revealed, names(found.tools)) == ((), ["read_file"])
    assert called(session, "read_file", {"path": "x"}).ok


def test_what_was_listed_can_be_called_after_the_conversation_has_grown():
    crib = crib_of()
    session = crib.session("1", tool_search="conversation:10", context_window=1_000)
    session.active_tools()
    session.used(500)
    assert session.deferring
    again = crib.session("1", tool_search="conversation:10", context_window=1_000)
    assert called(again, "read_file", {"path": "x"}).ok
    session.active_tools()
    assert code(called(again, "write_file", {"path": "x"})) == "not_revealed"
    assert called(again, "read_file", {"path": "x"}).ok


def test_how_long_a_conversation_is_lasts_with_its_id():
    crib = crib_of()

    def opened(id: str | None) -> Session:
        return crib.session(id, tool_search="conversation:10", context_window=1_000)

    opened("1").used(500)
    assert opened("1").deferring
    assert not opened("2").deferring
    assert not opened(None).deferring
    opened("1").compacted(())
    assert not opened("1").deferring


@pytest.fixture
def with_skill(tmp_path: Path) -> Crib:
    folder = tmp_path / "skills" / "invoices"
    folder.mkdir(parents=True)
    head = "---\nname: invoices\ndescription: How invoices are numbered\n---\n"
    (folder / "SKILL.md").write_text(head + "Numbers start with the year.\n" + "x" * 20_000)
    (folder / "tax.md").write_text("Reverse charge applies.")
    crib = crib_of()
    crib.add_source(SkillSource(tmp_path / "skills"))
    return crib


def test_a_skill_is_found_with_the_way_to_its_text_and_read(with_skill: Crib):
    session = with_skill.session()
    found = session.search("how are invoices numbered", kinds=["skill"]).text()
    assert "`read: skill_invoices` gives its text" in found
    read = str(called(session, "tool_search", {"read": "skill_invoices"}).content)
    assert "Numbers start with the year." in read
    assert "characters more)" in read
    assert "Files, each read as `skill_invoices/PATH`: tax.md" in read
    assert revealed_in(read) == ()
    file = called(session, "tool_search", {"read": "invoices/tax.md"}).content
    assert file == "# skill_invoices/tax.md\nReverse charge applies."


def test_an_agent_is_read_too(with_skill: Crib):
    read = str(called(with_skill.session(), "tool_search", {"read": "travel-planner"}).content)
    assert read.startswith("# agent_travel-planner [agent,")
    assert "Plans journeys by train" in read


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("skill_invoices/../../x", "bad_arguments"),
        ("read_file/x", "bad_arguments"),
        ("nope", "unknown_tool"),
    ],
)
def test_what_cannot_be_read_says_why(with_skill: Crib, name: str, error: str):
    assert code(called(with_skill.session(), "tool_search", {"read": name})) == error


def test_nobody_reads_what_they_may_not_see(with_skill: Crib):
    session = with_skill.session(caller=only("read_file"))
    assert code(called(session, "tool_search", {"read": "skill_invoices"})) == "unknown_tool"


def test_a_call_of_a_skill_says_how_it_is_read(with_skill: Crib):
    refused = called(with_skill.session(), "skill_invoices")
    assert code(refused) == "not_a_tool"
    assert refused.error
    assert "`read: skill_invoices`" in refused.error.message


def test_a_mode_that_is_none_is_refused():
    with pytest.raises(ConfigError, match="conversation:N"):
        crib_of().session(tool_search="sometimes")


def test_the_settings_decide_where_the_session_says_nothing():
    crib = Crib(Settings(store=":memory:", tool_search="off"))
    crib.add_source(ListedSource(*ALL))
    assert not crib.session().deferring
    assert crib.session(tool_search="on").deferring


WIDE: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "number": {"type": "integer"}},
}
RICH = tuple(
    replace(each, parameters=WIDE) if isinstance(each, ToolInfo) and not each.parameters else each
    for each in ALL
)


def test_a_tool_that_is_no_larger_than_its_stub_is_shown_whole():
    session = crib_of(style="stub").session()
    assert "current_time" in names(session.core_tools())
    assert names(session.deferred_tools()) == ["read_file", "write_file"]
    assert "tool_search" in listed(session)


def test_stubs_are_listed_without_parameters_until_they_are_revealed():
    session = crib_of(RICH, style="stub").session()
    tools = {tool.name: tool for tool in session.active_tools()}
    assert set(tools) == {"ask_person", "tool_search", *names(session.deferred_tools())}
    assert tools["read_file"].description == READ_FILE.description
    assert "properties" not in tools["read_file"].parameters
    assert "tool_search" in str(tools["read_file"].parameters["description"])
    session.search("select:write_file,read_file")
    shown = {tool.name: tool for tool in session.active_tools()}
    assert list(shown) == list(tools)
    assert shown["read_file"].parameters == READ_FILE.parameters
    changed = {name for name, tool in shown.items() if tool != tools[name]}
    assert changed == {"write_file", "read_file"}
    assert session.deferred_summary() == ""


def test_note_and_summary_are_there_when_something_is_deferred():
    session = crib_of().session()
    before = session.system_note(), session.deferred_summary()
    assert all(before)
    session.search("select:read_file,search_web")
    assert (session.system_note(), session.deferred_summary()) == before
    assert crib_of(plenty(3)).session().system_note() == ""


WORDS = st.sampled_from(
    ["read file", "select:search_web,resize", "+slack send", "", "create issue", "qqq", "/list/"]
)


@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=3), max_size=6),
    st.sampled_from(["hidden", "stub"]),
)
def test_no_search_changes_what_stands_before_what_it_reveals(
    searches: Sequence[Sequence[str]], style: str
):
    session = CRIBS[style].session()
    before = _bytes(session)
    fixed = session.system_note(), session.deferred_summary(), session.deferred_tools()
    for queries in searches:
        session.search(queries=queries)
        now = _bytes(session)
        assert list(now)[: len(before)] == list(before)
        changed = {name for name in before if now[name] != before[name]}
        assert changed <= (set(names(session.revealed_tools())) if style == "stub" else set())
        before = now
    assert (session.system_note(), session.deferred_summary(), session.deferred_tools()) == fixed


def _bytes(session: Session) -> dict[str, str]:
    """The definitions in their order. A stub is filled in its place, any other comes behind."""
    return {tool.name: tool_definition(tool) for tool in session.active_tools()}


CRIBS = {style: crib_of(RICH, style=style) for style in ("hidden", "stub")}


def test_threads_share_a_session():
    session = crib_of(plenty(64)).session("1")

    def search(start: int) -> None:
        for number in range(start, 64, 8):
            session.search(f"select:turn_gear_{number}")

    threads = [Thread(target=search, args=[start]) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names(session.revealed_tools())) == sorted(names(session.deferred_tools()))


def test_the_order_of_tools_is_by_source_and_name():
    tools = [mcp("b", "y"), mcp("a", "z"), ToolInfo(name="zz", description=""), mcp("a", "x")]
    session = crib_of((*tools, PINNED), threshold=0).session()
    assert names(session.deferred_tools()) == ["zz", "mcp_a_x", "mcp_a_z", "mcp_b_y"]


def test_weak_matches_are_names_and_reveal_nothing():
    session = crib_of().session(tool_search="on")
    before = session.active_tools()
    weak = session.search("who on earth would ever read a file near the harbour at night")
    assert weak.answers[0].confidence == "low"
    assert weak.answers[0].hits
    assert (weak.tools, weak.revealed, weak.hits) == ((), (), [])
    assert session.active_tools() == before
    first, *lines = weak.text().splitlines()
    assert first == "Weak matches; probably none fits."
    assert len(lines) == len(weak.answers[0])
    pairs = zip(lines, weak.answers[0], strict=True)
    assert all(line.startswith(f"- {hit.name} [") for line, hit in pairs)
    other = weak.answers[0][1].name
    named = session.search(f"select:{other}")
    assert [tool.name for tool in named.tools] == [*named.revealed] == [other]


def test_of_several_queries_the_weak_ones_reveal_nothing():
    session = crib_of().session(tool_search="on")
    both = session.search(queries=["read a text file from disk", "thanks"])
    assert [answer.confidence in {"low", "none"} for answer in both.answers] == [False, True]
    assert {tool.name for tool in both.tools} <= {hit.name for hit in both.answers[0]}
