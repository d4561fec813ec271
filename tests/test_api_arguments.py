"""What programs pass to our own functions: a slip is named at once, wherever it is made."""

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from toolcrib import Caller, Crib, Scope, Settings, tool
from toolcrib.adapters.anthropic import AnthropicWire
from toolcrib.adapters.gemini import GeminiWire
from toolcrib.adapters.langchain import ToolcribMiddleware
from toolcrib.adapters.langgraph import ApprovalToolNode
from toolcrib.adapters.openai_agents import toolcrib_tools
from toolcrib.adapters.openai_chat import ChatWire
from toolcrib.adapters.openai_responses import ResponsesWire
from toolcrib.adapters.pydantic_ai import ToolcribToolset
from toolcrib.errors import ConfigError, DeclarationError
from toolcrib.sources import FunctionSource

ANY_CRIB: Any = Crib
ANY_CALLER: Any = Caller
ANY_SCOPE: Any = Scope
"""The same as a program without types writes them."""


def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"sunny in {city}"


def delete_all() -> str:
    """Delete all that there is."""
    return "all is gone"


@pytest.fixture
def crib() -> Iterator[Crib]:
    with Crib(Settings(store=":memory:", embed={"embedder": "none"})) as opened:
        opened.add(get_weather, delete_all)
        yield opened


LISTS: dict[str, Callable[[Any], object]] = {
    "Scope(allowed=)": lambda _: ANY_SCOPE(allowed="get_*"),
    "Scope(excluded=)": lambda _: ANY_SCOPE(excluded="delete_all"),
    "Scope(internal=)": lambda _: ANY_SCOPE(internal="delete_all"),
    "Scope(sources=)": lambda _: ANY_SCOPE(sources="mail"),
    "Scope(permissions=)": lambda _: ANY_SCOPE(permissions="read"),
    "Scope(bound=)": lambda _: replace(ANY_SCOPE(), bound="get_weather"),
    "kinds=": lambda crib: crib.search("weather", kinds="tool"),
    "session kinds=": lambda crib: crib.session().search("weather", kinds="tool"),
    "queries=": lambda crib: crib.session().search(queries="weather"),
    "bound=": lambda crib: crib.session(bound="get_weather"),
    "see()": lambda crib: crib.session().see("get_weather"),
    "compacted()": lambda crib: crib.session().compacted("get_weather"),
    "prefetched()": lambda crib: crib.session().prefetched("the weather in Oslo"),
}
FACTS = ("tags", "platforms", "often_with")


@pytest.mark.parametrize("where", LISTS)
def test_one_string_is_not_several(crib: Crib, where: str):
    with pytest.raises(ConfigError, match=r"takes a list, each .*, not '.*'; write \['"):
        LISTS[where](crib)


@pytest.mark.parametrize("fact", FACTS)
def test_one_string_is_not_several_facts_of_a_tool(crib: Crib, fact: str):
    def look() -> None:
        """Look around."""

    facts: Any = {"name": "look_around", fact: "x"}
    message = f"look: {fact}= takes a list, each a string, not 'x'; write ['x']"
    with pytest.raises(DeclarationError, match=re.escape(message)):
        crib.add(look, **facts)
    with pytest.raises(DeclarationError, match=re.escape(message)):
        crib.add(tool(**facts)(look))


def test_a_scope_of_one_string_says_what_to_write():
    with pytest.raises(ConfigError, match=r"Scope\(allowed=\) takes .*; write \['get_\*'\]"):
        ANY_SCOPE(allowed="get_*")


def test_any_list_of_strings_is_a_scope(crib: Crib):
    caller = Caller("ann", ANY_SCOPE(allowed=["get_*"]))
    assert asyncio.run(crib.call("get_weather", {"city": "Oslo"}, caller=caller)).ok
    refused = asyncio.run(crib.call("delete_all", {}, caller=caller)).error
    assert refused
    assert refused.code == "not_allowed"


def test_an_unknown_word_among_several_is_named():
    with pytest.raises(ConfigError, match=r"permissions=.* takes one of read, .*, not 'raed'"):
        ANY_SCOPE(permissions=frozenset({"raed"}))


SLIPS: dict[str, tuple[Callable[[Any], object], str]] = {
    "Crib({})": (
        lambda _: ANY_CRIB({}),
        "Crib() takes a Settings or None, not {}; write Crib(Sett",
    ),
    "Crib.from_settings({})": (lambda _: ANY_CRIB.from_settings({}), "takes a Settings or None"),
    "embedder": (
        lambda _: ANY_CRIB(embedder="model2vec"),
        "embedder= takes a Callable or None, not",
    ),
    "caller": (lambda crib: crib.search("a", caller="ann"), "caller= takes a Caller, not 'ann'"),
    "caller of a session": (lambda crib: crib.session(caller="ann"), 'write Caller("ann")'),
    "caller of a call": (lambda crib: asyncio.run(crib.call("a", caller="ann")), "caller= takes"),
    "id of a caller": (lambda _: ANY_CALLER(17), "Caller(id=) takes a string, not 17"),
    "scope of a caller": (
        lambda _: ANY_CALLER("ann", "get_*"),
        "Caller(scope=) takes a Scope, not",
    ),
    "scope": (lambda crib: crib.search("a", scope="get_*"), "scope= takes a Scope or None, not"),
    "session(17)": (lambda crib: crib.session(17), "session(id) takes a string or None, not 17"),
    "tool_search": (lambda crib: crib.session(tool_search=5), "tool_search= takes a string or N"),
    "window": (lambda crib: crib.session(context_window=-1), "context_window= takes 1 or more, "),
    "query": (lambda crib: crib.search(None), "the query takes a string, not None; an empty one"),
    "query in a session": (lambda crib: crib.session().search(17), "the query takes a string, n"),
    "limit": (lambda crib: crib.search("a", limit=-1), "limit= takes 0 or more, not -1"),
    "limit of a session": (lambda crib: crib.session().search("a", limit=-1), "limit= takes 0 or"),
    "limit='5'": (lambda crib: crib.search("a", limit="5"), "limit= takes a whole number or None"),
    "limit=True": (
        lambda crib: crib.search("a", limit=True),
        "limit= takes a whole number or None",
    ),
    "kinds": (lambda crib: crib.search("a", kinds=["tols"]), "one of tool, skill, agent, not 't"),
    "call(17)": (lambda crib: asyncio.run(crib.call(17)), "name of a tool to call takes a string"),
    "call of a session": (
        lambda crib: asyncio.run(crib.session().call(None)),
        "the name of a tool to call takes a string, not None",
    ),
    "on_update": (lambda crib: crib.on_update(17), "on_update() takes a Callable, not 17; pass a"),
    "add_mcp": (lambda crib: crib.add_mcp("a", comand="x"), "no key 'comand'; the nearest is 'co"),
    "add_mcp(17)": (lambda crib: crib.add_mcp(17), "add_mcp() takes a string or a Path or a Mapp"),
    "a class": (lambda crib: crib.add_source(Crib), "add_source() takes sources one by one, not"),
    "a list": (lambda crib: crib.add_source([FunctionSource()]), "takes sources one by one, not ["),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_says_what_where_and_what_to_do(crib: Crib, slip: str):
    make, message = SLIPS[slip]
    with pytest.raises(ConfigError, match=re.escape(message)):
        make(crib)


WIRES: dict[str, Callable[..., Any]] = {
    "anthropic": partial(AnthropicWire, model="claude", endpoint="https://api.anthropic.com"),
    "responses": partial(ResponsesWire, model="gpt", endpoint="https://api.openai.com"),
    "chat": ChatWire,
    "gemini": GeminiWire,
}


@pytest.mark.parametrize("name", WIRES)
def test_all_wires_refuse_the_same_slips(crib: Crib, name: str):
    wire, session = WIRES[name], crib.session()
    with pytest.raises(ConfigError, match=r"Wire\(\) takes a Session, .*; write crib.session\(\)"):
        wire(crib)
    with pytest.raises(ConfigError, match=r"mode= takes one of .*append, proxy or None, not 'ref"):
        wire(session, mode="refrence")
    with pytest.raises(ConfigError, match="model= takes a string, not 5"):
        wire(session, model=5)
    with pytest.raises(ConfigError, match=r"request\(\) takes a list, each a value, not 'Hi'"):
        wire(session).request("Hi")


@pytest.mark.parametrize("name", WIRES)
def test_all_wires_tell_their_mode_and_what_was_refused(crib: Crib, name: str):
    wire = WIRES[name](crib.session(), mode="proxy")
    assert str(wire.choice) == "proxy: it was asked for"
    assert wire.refused(ValueError("defer_loading is not known")) is False
    assert WIRES[name](crib.session(style="stub")).choice.mode == "append"


def test_other_frameworks_want_a_crib_or_a_session(crib: Any):
    with pytest.raises(ConfigError, match=r"toolcrib_tools\(\) takes a Session"):
        toolcrib_tools(crib)
    with pytest.raises(ConfigError, match="mode= takes one of enabled, hosted, proxy, not 'hostd'"):
        toolcrib_tools(crib.session(), cast("Any", "hostd"))
    for make in (ToolcribMiddleware, ToolcribToolset):
        with pytest.raises(
            ConfigError, match=r"takes a Crib or a Callable, not <.*Session.*; pass"
        ):
            make(crib.session())
    with pytest.raises(ConfigError, match="caller= takes a Caller or a Callable, not 'ann'"):
        ApprovalToolNode([], crib, caller=cast("Any", "ann"))


@pytest.mark.parametrize("timeout_s", [-1, 0, float("nan"), "5"])
def test_a_call_without_time_is_not_made(crib: Crib, timeout_s: Any):
    ran: list[int] = []
    crib.add(lambda: ran.append(1), name="count")
    for call in (crib.call, crib.session(tool_search="off").call):
        error = asyncio.run(call("count", {}, timeout_s=timeout_s)).error
        assert error
        assert (error.code, error.effect) == ("deadline", "not_sent")
        assert "timeout_s takes a number above 0" in error.message
    assert ran == []


AFTER_THE_END: dict[str, Callable[[Any], object]] = {
    "search": lambda crib: crib.search("weather"),
    "call": lambda crib: asyncio.run(crib.call("get_weather", {"city": "Oslo"})),
    "add": lambda crib: crib.add(replace),
    "add_mcp": lambda crib: crib.add_mcp("a", command="x"),
    "session": lambda crib: crib.session(),
    "entries": lambda crib: crib.entries(),
    "refresh": lambda crib: asyncio.run(crib.refresh()),
}


@pytest.mark.parametrize("what", AFTER_THE_END)
def test_a_closed_crib_works_no_more(crib: Crib, what: str):
    crib.close()
    with pytest.raises(ConfigError, match="this crib is closed; make another one"):
        AFTER_THE_END[what](crib)


def test_a_session_ends_with_its_crib(crib: Crib):
    session = crib.session("thread-1")
    crib.close()
    for ask in (session.active_tools, lambda: session.search("weather")):
        with pytest.raises(ConfigError, match="this crib is closed"):
            ask()
    with pytest.raises(ConfigError, match="this crib is closed"):
        asyncio.run(session.call("get_weather", {"city": "Oslo"}))
    crib.close()  # as often as you like


def test_sources_of_the_settings_that_nobody_reads_are_a_problem(tmp_path: Path):
    named = Settings(store=":memory:", tool_modules=["json"], skills=[tmp_path])
    with Crib(named) as crib:
        [problem] = crib.problems
    assert problem.startswith("the settings name tool_modules, skills: Crib.from_settings(sett")
    with Crib.from_settings(named) as crib:
        assert not any("from_settings" in each for each in crib.problems)
