from typing import Any

import pytest

from toolcrib import Crib
from toolcrib.adapters.gemini import GeminiWire
from toolcrib.adapters.openai_chat import ChatWire
from toolcrib.adapters.wire.tool_list import tools_within_limit
from toolcrib.errors import ConfigError

TOOLS = 700


@pytest.fixture(scope="module")
def crib() -> Crib:
    crib = Crib()
    for number in range(TOOLS):
        crib.add(lambda: "done", name=f"tool_{number}", description=f"Do the work {number}")
    return crib


def names(count: int, start: int = 0) -> list[str]:
    return [f"tool_{number}" for number in range(start, start + count)]


def test_what_was_found_longest_ago_is_left_out(crib: Crib):
    session = crib.session()
    session.see(names(20))
    shown = [tool.name for tool in tools_within_limit(session, 11, names(20))]
    assert shown == ["tool_search", *names(10, start=10)]


def test_what_is_found_again_comes_into_sight_again(crib: Crib):
    session = crib.session()
    session.see(names(20))
    shown = [tool.name for tool in tools_within_limit(session, 4, [*names(20), "tool_3"])]
    assert shown == ["tool_search", "tool_3", "tool_18", "tool_19"]


def test_within_the_limit_all_are_listed_in_the_order_of_their_reveal(crib: Crib):
    session = crib.session()
    session.see(names(10))
    assert tools_within_limit(session, 11, []) == session.active_tools()


def test_too_many_that_are_always_shown_are_refused(crib: Crib):
    with pytest.raises(ConfigError, match="700 tools are always shown, and the provider takes 128"):
        ChatWire(crib.session(tool_search="off")).request([])
    with pytest.raises(ConfigError, match="takes 512"):
        GeminiWire(crib.session(tool_search="off")).request([])


def test_a_long_conversation_stays_within_what_chat_completions_take(crib: Crib):
    session = crib.session()
    session.see(names(300))
    assert len(ChatWire(session).request([]).get("tools", [])) == 128


def test_gemini_has_a_limit_too(crib: Crib):
    session = crib.session()
    session.see(names(600))
    tools: Any = GeminiWire(session).request([])["config"].tools
    assert len(tools[0].function_declarations) == 512
