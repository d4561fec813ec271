"""What a message of the user shows before the model has to ask."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.session.deck import crib_of, names, only, plenty
from tests.workshop import READ_FILE, ListedSource
from toolcrib import Crib, Settings
from toolcrib.crib import HOST
from toolcrib.crib.sessions import MOST_MESSAGES, CallerMessages, SearchedMessages
from toolcrib.errors import ConfigError
from toolcrib.model import Answer, Confidence, Hit, State, ToolInfo
from toolcrib.session import Prefetch, Session, UserMessage
from toolcrib.session.prefetch import (
    LONGEST_MESSAGE,
    MOST_IN_CONVERSATION,
    key_of,
    needs_in,
    plan_prefetch,
    read_marks,
)

TOOLS = {tool.name: tool for tool in plenty(8)}
FIRST, SECOND, THIRD, FOURTH, *_ = TOOLS
READ, WEB = "read_file", "search_web"


def hit(name: str, state: State = "ready") -> Hit:
    return Hit(name, "tool", "mcp", "s", state, "", 1.0, "", "read")


def answers(found: Mapping[str, tuple[Confidence, list[Hit]]]) -> Any:
    """A search that is this sure of these hits, by what a query has in it."""

    def search(query: str) -> Answer:
        sure, hits = next(each for word, each in found.items() if word in query)
        return Answer(query, tuple(hits), confidence=sure, chance=0.5)

    return search


def planned(
    message: str, found: Mapping[str, tuple[Confidence, list[Hit]]], **said: int
) -> Prefetch:
    most, tokens = said.get("most", 8), said.get("tokens", 800)
    return plan_prefetch(message, answers(found), TOOLS, most=most, tokens=tokens)


def test_only_sure_hits_are_shown_and_at_most_three_a_need():
    sure = planned("turn gears", {"turn": ("high", [hit(name) for name in TOOLS])})
    assert sure.names == (FIRST, SECOND, THIRD)
    assert not planned("turn gears", {"turn": ("medium", [hit(FIRST)])}).names
    assert not planned("turn gears", {"turn": ("none", [])}).names


def test_each_thing_that_a_message_asks_for_shows_what_search_is_sure_of():
    asked = "read the page and send it to Anna"
    both: dict[str, tuple[Confidence, list[Hit]]] = {
        "read": ("high", [hit(FIRST), hit(SECOND)]),
        "send": ("high", [hit(THIRD)]),
    }
    assert planned(asked, both).names == (FIRST, THIRD, SECOND)
    both["read"] = ("low", [hit(FIRST)])
    assert planned(asked, both).names == (THIRD,)


def test_the_budget_bounds_what_is_shown_and_no_worse_hit_takes_the_place_of_a_better():
    large = replace(TOOLS[FIRST], description="turn " * 4_000)
    found = answers({"turn": ("high", [hit(FIRST), hit(SECOND)])})
    tools: dict[str, ToolInfo] = {**TOOLS, FIRST: large}
    assert not plan_prefetch("turn gears", found, tools, most=8, tokens=800).names
    assert plan_prefetch("turn gears", found, tools, most=8, tokens=80_000).names == (FIRST, SECOND)
    assert plan_prefetch("turn gears", found, tools, most=1, tokens=80_000).names == (FIRST,)


def test_what_does_not_wait_or_cannot_be_called_is_not_shown():
    found = [hit("elsewhere"), hit(FIRST, "disabled"), hit(SECOND)]
    assert planned("turn gears", {"turn": ("high", found)}).names == (SECOND,)


def test_an_explanation_says_what_is_shown_and_why_not():
    sure = str(planned("turn gears", {"turn": ("high", [hit(FIRST)])}))
    assert sure == f"'turn gears': high (0.50), shows {FIRST}"
    assert "medium (0.50), and prefetch shows what is high" in str(
        planned("turn gears", {"turn": ("medium", [hit(FIRST)])})
    )
    assert "elsewhere is shown already" in str(
        planned("turn gears", {"turn": ("high", [hit("elsewhere")])})
    )
    assert str(planned("", {})) == "the message asks for nothing"


@pytest.mark.parametrize("empty", ["", "   ", "\n", "?!", "👍", "```\nrm -rf /\n```"])
def test_a_message_without_words_asks_for_nothing(empty: str):
    if "rm" in empty:
        assert needs_in(f"{empty}") == (empty.strip(),)  # all there is to read
    else:
        assert not needs_in(empty)


def test_a_verb_alone_asks_for_nothing():
    assert not needs_in("Stop!")
    assert not needs_in("continue")
    assert needs_in("Weather?")
    assert needs_in("stop the build")
    assert needs_in("read_file")


@pytest.mark.parametrize("text", ["select:read_file", "+slack send", "/create.*issue/"])
def test_a_message_is_never_taken_for_the_syntax_of_a_query(text: str):
    [need] = needs_in(text)
    assert not need.startswith(("select:", "+", "/"))


def test_of_a_long_message_its_beginning_and_its_end_are_searched():
    asked, pasted = "Summarize this log", "\n\n".join(["error at line"] * 20_000)
    [need] = needs_in(f"{asked}\n\n{pasted}\n\nthanks a lot")
    assert need.startswith(asked)
    assert need.endswith("thanks a lot")
    assert all(len(each) <= LONGEST_MESSAGE + 1 for each in needs_in("word " * 100_000))
    assert needs_in("fix the test\n```\nopen a ticket\n```") == ("fix the test",)


def test_marks_are_read_back_and_no_name_is_taken_for_one():
    assert read_marks(["a", "?abc:b,c", "b", "c"]) == {"abc": ("b", "c")}
    session = crib_of().session()
    session.see([f"?{key_of(READ)}:read_file", "search_web"])
    assert names(session.revealed_tools()) == ["search_web"]
    assert not session.prefetched([READ])


# in a session


def test_a_message_shows_what_it_names_behind_the_search_tool():
    session = crib_of().session("1")
    assert names(session.prefetch(READ)) == ["read_file"]
    assert names(session.active_tools()) == ["ask_person", "tool_search", "read_file"]
    outcome = asyncio.run(session.call("read_file", {}))
    assert not outcome.error or outcome.error.code != "not_revealed"


def test_the_list_only_grows_and_the_same_message_changes_nothing():
    session = crib_of().session("1")
    seen = [names(session.active_tools())]
    for message in (READ, READ, "yes, do it", WEB, READ, "thanks!"):
        session.prefetch(message)
        seen.append(names(session.active_tools()))
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(seen))
    assert seen[-1] == ["ask_person", "tool_search", "read_file", "search_web"]


def test_off_is_off_and_an_unknown_word_is_an_error():
    crib = crib_of(prefetch="off")
    assert crib.session().prefetch_mode == "off"
    assert not crib.session().prefetch(READ)
    assert crib.session(prefetch="on").prefetch(READ)
    with pytest.raises(ConfigError, match="one of auto, on, off"):
        crib.session(prefetch="maybe")


def test_a_stub_gets_its_parameters_in_its_place():
    session = crib_of(style="stub").session("1")
    before = session.active_tools()
    session.prefetch(READ)
    after = session.active_tools()
    assert names(after) == names(before)
    [changed] = [tool for tool, stub in zip(after, before, strict=True) if tool != stub]
    assert changed.name == READ


def test_where_nothing_is_deferred_nothing_is_shown_twice():
    session = crib_of().session(tool_search="off")
    assert not session.prefetch(READ)


def test_a_caller_is_shown_only_what_it_may_call():
    crib = crib_of(threshold=0)
    assert not crib.session(caller=only("search_*")).prefetch(READ)
    assert crib.session(caller=only("read_*")).prefetch(READ)
    assert not crib.session(bound=["read_file"]).prefetch(READ)


def test_a_message_is_searched_once(monkeypatch: pytest.MonkeyPatch):
    crib, searched = crib_of(), list[str]()
    search = Crib.search

    def counted(self: Crib, text: str, **said: Any) -> Answer:
        searched.append(text)
        return search(self, text, **said)

    monkeypatch.setattr(Crib, "search", counted)
    for id in ("1", None):
        for message in (READ, "what a lovely day"):
            searched.clear()
            for _ in range(3):
                crib.session(id).see([UserMessage(message)], prefetch=True)
            assert len(searched) <= 1, (id, message)


def test_what_was_shown_lasts_with_the_id(tmp_path: Path):
    store = str(tmp_path / "catalog.db")
    with crib_of(store=store) as crib:
        crib.session("1").prefetch(READ)
    with crib_of(store=store) as crib:
        assert names(crib.session("1").revealed_tools()) == ["read_file"]
        [shown] = crib.session("1").prefetched([READ, WEB]).values()
        assert names(shown) == ["read_file"]
        assert not crib.session("2").prefetched([READ])


def test_only_the_newest_message_of_a_conversation_is_searched():
    session = crib_of().session()
    session.see([UserMessage(READ), UserMessage(WEB)], prefetch=True)
    assert names(session.revealed_tools()) == ["search_web"]


def test_a_session_without_an_id_shows_earlier_messages_what_they_showed():
    crib = crib_of()
    turns: list[str | UserMessage] = [UserMessage(READ)]
    crib.session().see(turns, prefetch=True)
    turns += ["current_time", UserMessage(WEB), "write_file"]
    session = crib.session()
    session.see(turns, prefetch=True)
    shown = [name for name in names(session.revealed_tools()) if name != "write_file"]
    assert shown == ["read_file", "current_time", "search_web"]
    called = crib.session()
    called.see(turns)  # as before a call: nothing is searched, and all is known
    assert names(called.revealed_tools()) == names(session.revealed_tools())


def test_where_it_is_off_nothing_is_shown_that_others_were_shown():
    crib = crib_of()
    seen = [UserMessage(READ)]
    crib.session().see(seen, prefetch=True)
    off, other_model = crib.session(prefetch="off"), crib.session()
    off.see(seen, prefetch=True)
    off.see(seen)
    other_model.see(seen, prefetch=False)
    assert not off.revealed_tools()
    assert not other_model.revealed_tools()
    assert not crib.session().prefetched([READ])


def test_with_an_id_no_other_conversation_counts():
    crib = crib_of()
    crib.session().see([UserMessage(READ)], prefetch=True)
    session = crib.session("1")
    session.see([UserMessage(READ), UserMessage(WEB)], prefetch=True)
    assert names(session.revealed_tools()) == ["search_web"]


def test_what_another_process_showed_for_the_newest_message_can_be_called():
    session = crib_of().session(prefetch="on")
    session.see([UserMessage(READ)])  # nothing was prefetched here
    assert not session.revealed_tools()
    outcome = asyncio.run(session.call("read_file", {"path": "a"}))
    assert not outcome.error or outcome.error.code != "not_revealed"
    refused = asyncio.run(session.call("search_web", {"query": "a"}))
    assert refused.error
    assert refused.error.code == "not_revealed"


def test_where_the_model_decides_a_guessed_call_is_refused():
    session = crib_of().session(prefetch="auto")
    session.see([UserMessage(READ)])
    refused = asyncio.run(session.call("read_file", {"path": "a"}))
    assert refused.error
    assert refused.error.code == "not_revealed"


def test_compaction_keeps_what_the_messages_that_are_left_have_shown():
    session = crib_of().session("1")
    session.prefetch(READ)
    session.prefetch(WEB)
    session.compacted({UserMessage(WEB)})
    assert names(session.revealed_tools()) == ["search_web"]
    assert not session.prefetched([READ])
    session.clear()
    assert not session.revealed_tools()


def test_a_tool_that_comes_later_is_found_by_the_same_message():
    crib = crib_of(plenty())
    assert not crib.session().prefetch(READ)
    crib.add_source(ListedSource(READ_FILE))
    assert names(crib.session().prefetch(READ)) == ["read_file"]


def test_what_was_found_in_another_catalog_is_searched_again():
    class Catalog:
        pass

    one, other = Catalog(), Catalog()
    memory = CallerMessages(SearchedMessages(), HOST, keeps=False)
    memory.remember("key", one, ("read_file",))
    assert memory.searched("key", one) == ("read_file",)
    assert memory.searched("key", other) is None
    assert memory.shown("key") == ("read_file",)
    assert CallerMessages(memory.messages, only("x"), keeps=False).shown("key") == ()


def test_the_oldest_messages_are_forgotten():
    memory = CallerMessages(SearchedMessages(), HOST, keeps=False)
    catalog = frozenset({"x"})
    for number in range(MOST_MESSAGES + 1):
        memory.remember(str(number), catalog, (str(number),))
    assert not memory.shown("0")
    assert memory.shown("1") == ("1",)


def test_a_conversation_is_not_filled_without_end():
    crib = crib_of(plenty(60))
    session = crib.session("1")
    for tool in session.deferred_tools():
        session.prefetch(tool.name)
    assert 0 < len(session.revealed_tools()) <= MOST_IN_CONVERSATION + 2


def test_by_default_it_is_left_to_the_model():
    assert Settings().session.prefetch == "auto"
    assert Crib().session().prefetch_mode == "auto"


def test_the_estimate_counts_what_messages_have_shown():
    session: Session = crib_of().session()
    before = session.token_estimate()
    session.prefetch(READ)
    session.search("select:search_web")
    after = session.token_estimate()
    assert before.prefetched == 0
    assert 0 < after.prefetched < after.revealed
