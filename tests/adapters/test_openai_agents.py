"""Whole runs of real agents, the provider faked at its wire."""

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    Model,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    RunContextWrapper,
    Runner,
    RunState,
    ToolExecutionConfig,
)
from agents.tool_context import ToolContext
from openai import AsyncOpenAI

from tests.adapters.talks import open_ai
from tests.adapters.weather import (
    FORECAST,
    NOW,
    RADAR,
    Weather,
    grows,
    prefetching,
    raw,
    weather_crib,
)
from toolcrib import Crib, Settings
from toolcrib.adapters.openai_agents import AgentsMode, revealed, toolcrib_note, toolcrib_tools
from toolcrib.crib import inventory_of
from toolcrib.model import Outcome
from toolcrib.testing import CallTool, Request, Say, ScriptedModel, SearchTools

OSLO = CallTool(FORECAST, {"city": "Oslo"})
FIND = SearchTools("weather forecast")
SCRIPT = [FIND, OSLO, Say("Sunny."), Say("Yes.")]

Make = Callable[[AsyncOpenAI], Model]


def chat(client: AsyncOpenAI) -> Model:
    return OpenAIChatCompletionsModel("gpt-4.1", client)


def responses(client: AsyncOpenAI) -> Model:
    return OpenAIResponsesModel("gpt-5.5", client)


BROKEN = CallTool(FORECAST, '{"city": "Os')


class Talk:
    """A conversation with an agent; `history` is what the program keeps of it."""

    def __init__(self, crib: Crib, id: str | None, model: ScriptedModel, make: Make, mode: Any):
        self.session = crib.session(id)
        self.model = model
        self.make = make
        self.tools = toolcrib_tools(self.session, mode)
        self.history: list[Any] = []
        self.execution: ToolExecutionConfig | None = None

    def ask(self, text: str) -> Any:
        self.history.append({"role": "user", "content": text})
        return self.run(self.history)

    def run(self, given: Any) -> Any:
        """The final output, or the result of a run that was interrupted."""
        return asyncio.run(self._run(given))

    async def _run(self, given: Any) -> Any:
        async with open_ai(self.model) as client:
            agent = Agent(name="helper", model=self.make(client), tools=self.tools)
            if isinstance(given, dict):
                state = await RunState.from_json(agent, given["state"])
                for item in state.get_interruptions():
                    given["decide"](state, item)
                given = state
            config = RunConfig(tracing_disabled=True, tool_execution=self.execution)
            result = await Runner.run(agent, given, run_config=config)
        self.history = result.to_input_list()
        return result if result.interruptions else result.final_output


@pytest.fixture
def made() -> tuple[Crib, Weather]:
    return weather_crib()


@pytest.fixture
def crib(made: tuple[Crib, Weather]) -> Crib:
    return made[0]


@contextmanager
def talking(
    crib: Crib,
    turns: Sequence[Any],
    make: Make = chat,
    mode: AgentsMode = "enabled",
    id: str | None = "one",
) -> Generator[Talk]:
    with ScriptedModel(turns) as model:
        yield Talk(crib, id, model, make, mode)
    assert model.is_over


def key(request: Request) -> str:
    return "input" if "input" in request.json else "messages"


@pytest.mark.parametrize("make", [chat, responses])
def test_a_search_reveals_and_the_tool_is_called(made: tuple[Crib, Weather], make: Make):
    crib, source = made
    with talking(crib, SCRIPT, make) as talk:
        assert talk.ask("How is the weather in Oslo?") == "Sunny."
        assert talk.ask("Sure?") == "Yes."
        requests = talk.model.requests
    assert requests[0].sees == (NOW, "tool_search")
    assert FORECAST in requests[1].sees
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}]
    assert b"sunny in Oslo" in requests[2].body
    assert FORECAST in requests[3].sees
    for earlier, later in pairwise(requests):
        assert grows(raw(earlier.body, "tools"), raw(later.body, "tools"))
        assert grows(raw(earlier.body, key(earlier)), raw(later.body, key(later)))


@pytest.mark.parametrize("make", [chat, responses])
def test_the_proxy_keeps_the_tools_as_they_are(made: tuple[Crib, Weather], make: Make):
    crib, source = made
    script = [
        *SCRIPT[:3],
        SearchTools("rain radar map"),
        CallTool(RADAR, {"city": "Oslo"}),
        Say("No."),
    ]
    with talking(crib, script, make, "proxy") as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert talk.ask("Rain?") == "No."
        requests = talk.model.requests
    assert requests[0].sees == (NOW, "tool_search", "call_tool")
    assert len({raw(request.body, "tools") for request in requests}) == 1
    assert [call.name for call in source.reached] == ["get_forecast", "rain_radar"]


def test_the_provider_may_search_itself(made: tuple[Crib, Weather]):
    crib, source = made
    script = [SearchTools("forecast", finds=[FORECAST]), OSLO, Say("Sunny."), Say("Yes.")]
    with talking(crib, script, responses, "hosted") as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert talk.ask("Sure?") == "Yes."
        first, *_, last = talk.model.requests
    kinds = {tool["type"] for tool in first.json["tools"]}
    assert kinds == {"function", "namespace", "tool_search"}
    assert raw(first.body, "tools") == raw(last.body, "tools")
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}]
    assert toolcrib_note(talk.session, "hosted") == ""


def test_two_conversations_do_not_see_each_others_reveals(crib: Crib):
    hello = [Say("Hi."), Say("Ho.")]
    with talking(crib, SCRIPT[:3], id="a") as one, talking(crib, hello, id="b") as other:
        other.ask("Hello")
        one.ask("Weather?")
        other.ask("And now?")
        assert FORECAST in one.model.requests[-1].sees
        assert other.model.requests[-1].sees == (NOW, "tool_search")


def test_the_input_of_a_run_brings_the_reveals_back(crib: Crib):
    anew, source = weather_crib()
    with talking(crib, [FIND, Say("Found."), OSLO, Say("Sunny.")]) as talk:
        talk.ask("Weather?")
        again = Talk(anew, None, talk.model, chat, "enabled")
        again.history = talk.history
        assert again.ask("In Oslo?") == "Sunny."
    assert len(source.reached) == 1


def test_after_compaction_only_what_is_still_said_is_revealed(crib: Crib):
    with talking(crib, [*SCRIPT[:3], Say("Hm."), FIND, OSLO, Say("Again.")]) as talk:
        talk.ask("Weather?")
        talk.history = [{"role": "user", "content": "Summary: it was sunny."}]
        talk.session.compacted(frozenset(revealed(talk.history)))
        talk.ask("Go on")
        assert talk.model.requests[-1].sees == (NOW, "tool_search")
        assert talk.ask("Once more") == "Again."


def test_a_bad_call_is_told(crib: Crib):
    with talking(crib, [FIND, CallTool(FORECAST, {"town": "Rome"}), Say("Sorry.")]) as talk:
        assert talk.ask("Weather?") == "Sorry."
        assert b"bad_arguments" in talk.model.requests[-1].body


def test_only_what_may_be_asked_for_has_a_policy_of_approval(made: tuple[Crib, Weather]):
    """The SDK asks a person about arguments that it cannot read, where there is one."""
    crib, source = made
    source.tools["rain_radar"] = replace(source.tools["rain_radar"], permission_kind="write")
    inventory_of(crib).pool.refresh(source)
    tools: dict[str, Any] = {tool.name: tool for tool in toolcrib_tools(crib.session())}
    assert tools["tool_search"].needs_approval is False
    assert tools[NOW].needs_approval is False
    assert tools[FORECAST].needs_approval is False
    assert callable(tools[RADAR].needs_approval)


def test_where_nothing_is_deferred_there_is_no_search():
    crib = Crib()
    crib.add_source(Weather())
    session = crib.session()
    [search] = [each for each in toolcrib_tools(session) if each.name == "tool_search"]
    given: Any = SimpleNamespace(turn_input=[])
    assert isinstance(search, FunctionTool)
    assert callable(search.is_enabled)
    assert search.is_enabled(given, Agent(name="a")) is False
    session.see(["tool_search"])  # a result was long: now there is something to read with it
    assert search.is_enabled(given, Agent(name="a")) is True
    assert toolcrib_note(session) == ""


def test_the_note_says_how_to_find_tools(crib: Crib):
    session = crib.session()
    assert toolcrib_note(session).startswith(session.system_note())
    assert "call_tool" in toolcrib_note(session, "proxy")


def approve(state: Any, item: Any) -> None:
    state.approve(item)


def reject(state: Any, item: Any) -> None:
    state.reject(item)


@pytest.mark.parametrize(
    ("make", "mode"),
    [(chat, "enabled"), (responses, "enabled"), (chat, "proxy"), (responses, "hosted")],
)
def test_where_a_person_is_to_be_asked_the_run_is_interrupted(
    made: tuple[Crib, Weather], make: Make, mode: AgentsMode
):
    crib, source = made
    source.tools["get_forecast"] = replace(source.tools["get_forecast"], permission_kind="write")
    inventory_of(crib).pool.refresh(source)
    find = SearchTools("weather forecast", finds=[FORECAST])
    with talking(crib, [find, OSLO, Say("Sunny."), OSLO, Say("Not.")], make, mode) as talk:
        stopped = talk.ask("Weather?")
        assert source.reached == []
        state = stopped.to_state().to_json()
        assert talk.run({"state": state, "decide": approve}) == "Sunny."
        assert len(source.reached) == 1
        state = talk.ask("Again").to_state().to_json()
        assert talk.run({"state": state, "decide": reject}) == "Not."
    assert len(source.reached) == 1


@pytest.mark.parametrize("make", [chat, responses])
@pytest.mark.parametrize("mode", ["enabled", "proxy"])
def test_arguments_that_are_no_json_are_told_and_do_not_end_the_run(
    made: tuple[Crib, Weather], make: Make, mode: AgentsMode
):
    crib, source = made
    broken = BROKEN if mode == "enabled" else CallTool("call_tool", '{"name": "mcp_')
    with talking(crib, [FIND, broken, broken, broken, OSLO, Say("Sunny.")], make, mode) as talk:
        assert talk.ask("Weather?") == "Sunny."
        told = talk.model.requests[-2].body
    assert b"bad_arguments" in told
    assert b"unknown_tool" not in told
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}]


def test_a_broken_call_that_would_be_asked_for_is_told_before_a_person_is_asked(
    made: tuple[Crib, Weather],
):
    crib, source = made
    source.tools["get_forecast"] = replace(source.tools["get_forecast"], permission_kind="write")
    inventory_of(crib).pool.refresh(source)
    with talking(crib, [FIND, BROKEN, OSLO]) as talk:
        talk.execution = ToolExecutionConfig(pre_approval_tool_input_guardrails=True)
        stopped = talk.ask("Weather?")
        assert [item.arguments for item in stopped.interruptions] == ['{"city": "Oslo"}']
        assert b"bad_arguments" in talk.model.requests[-1].body
    assert source.reached == []


@pytest.mark.parametrize("id", ["one", None])
@pytest.mark.parametrize("make", [chat, responses])
def test_what_the_user_asks_for_is_shown_before_any_search(make: Make, id: str | None):
    crib, source = prefetching()
    script = [Say("Hi."), OSLO, Say("Sunny."), CallTool(RADAR, {"city": "Oslo"}), Say("No.")]
    with talking(crib, script, make, id=id) as talk:
        for message in ("Hello", FORECAST, RADAR):
            talk.ask(message)
        requests = talk.model.requests
    assert [FORECAST in each.sees for each in requests] == [False] + [True] * 4
    assert [RADAR in each.sees for each in requests] == [False] * 3 + [True] * 2
    assert [call.name for call in source.reached] == ["get_forecast", "rain_radar"]
    for earlier, later in pairwise(requests):
        assert grows(raw(earlier.body, "tools"), raw(later.body, "tools"))


def test_no_result_is_prefetched_and_the_proxy_tool_shows_nothing():
    crib, source = prefetching()
    source.answer = lambda _call: Outcome(RADAR)
    with talking(crib, [OSLO, Say("Sunny."), Say("Hm.")]) as talk:
        talk.ask(FORECAST)
        talk.ask("thanks")
        assert all(RADAR not in each.sees for each in talk.model.requests)
    with talking(crib, [Say("Hi.")], mode="proxy", id="other") as talk:
        talk.ask(FORECAST)
        assert not talk.session.revealed_tools()


def test_by_default_a_model_that_searches_by_itself_is_left_alone():
    crib, _ = prefetching("auto")
    with talking(crib, [Say("Hi.")], responses) as talk:
        talk.ask(FORECAST)
        assert FORECAST not in talk.model.requests[0].sees
    with talking(crib, [OSLO, Say("Sunny.")], chat) as talk:
        assert talk.ask(FORECAST) == "Sunny."


def test_a_shorter_conversation_keeps_what_its_messages_have_shown():
    crib, _ = prefetching()
    with talking(crib, [Say("One."), Say("Two.")]) as talk:
        talk.ask(FORECAST)
        talk.ask(RADAR)
        talk.session.compacted(frozenset(revealed(talk.history[2:])))
        assert [tool.name for tool in talk.session.revealed_tools()] == [RADAR]


@pytest.mark.parametrize("kind", [RunContextWrapper, ToolContext])
def test_the_context_of_a_run_reaches_a_function_and_no_model(kind: Any):
    got: list[Any] = []

    def book(ctx: Any, room: str) -> str:
        """Book a room."""
        got.append(ctx)
        return f"{room} is booked"

    book.__annotations__["ctx"] = kind[Any]
    crib = Crib(Settings(store=":memory:", embed={"embedder": "none"}))
    crib.add(book)
    with crib, talking(crib, [CallTool("book", {"room": "Blue"}), Say("Done.")]) as talk:
        assert talk.ask("Book Blue") == "Done."
        [tool, *_] = talk.model.requests[0].json["tools"]
        assert list(tool["function"]["parameters"]["properties"]) == ["room"]
    assert isinstance(got[0], ToolContext)
