"""Whole runs of real agents, the provider faked at its wire."""

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import anthropic
import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, RunContext
from pydantic_ai.capabilities import ToolSearch
from pydantic_ai.messages import BinaryContent, ModelMessage, ModelMessagesTypeAdapter, ModelRequest
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.adapters.talks import open_ai
from tests.adapters.weather import (
    FORECAST,
    NOW,
    RADAR,
    Weather,
    growing_crib,
    grows,
    prefetching,
    raw,
    weather_crib,
)
from toolcrib import Caller, Crib, Scope, Settings
from toolcrib.adapters.pydantic_ai import ToolcribToolset, toolcrib_search
from toolcrib.crib import inventory_of
from toolcrib.model import Outcome
from toolcrib.testing import CallTool, Request, Say, ScriptedModel, SearchTools

OSLO = CallTool(FORECAST, {"city": "Oslo"})
FIND = SearchTools("weather forecast")

Make = Callable[[ScriptedModel], Model]


def claude(model: ScriptedModel) -> Model:
    http = anthropic.DefaultAsyncHttpxClient(verify=False)
    client = anthropic.AsyncAnthropic(base_url=model.url, api_key="none", http_client=http)
    provider = AnthropicProvider(anthropic_client=client)
    return AnthropicModel("claude-opus-5-5", provider=provider, settings={"max_tokens": 100})


def chat(model: ScriptedModel) -> Model:
    return OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(openai_client=open_ai(model)))


def responses(model: ScriptedModel) -> Model:
    return OpenAIResponsesModel("gpt-5.5", provider=OpenAIProvider(openai_client=open_ai(model)))


class Talk:
    """A conversation with an agent; `history` is what the program keeps of it."""

    def __init__(self, agent: Agent[Any, Any], model: ScriptedModel, loop: asyncio.Runner) -> None:
        self.agent = agent
        self.loop = loop
        self.model = model
        self.history: list[ModelMessage] = []

    def ask(self, text: str | None, **options: Any) -> Any:
        done = self.loop.run(self.agent.run(text, message_history=self.history, **options))
        self.history = done.all_messages()
        return done.output


@pytest.fixture
def made() -> tuple[Crib, Weather]:
    return weather_crib()


@pytest.fixture
def crib(made: tuple[Crib, Weather]) -> Crib:
    return made[0]


@contextmanager
def talking(
    crib: Any,
    turns: Sequence[Any],
    make: Make = chat,
    *,
    capabilities: Sequence[Any] = (),
    output: Any = str,
    **options: Any,
) -> Generator[Talk]:
    with ScriptedModel(turns) as model, asyncio.Runner() as loop:
        spoken: Any = make(model)
        agent = Agent(
            spoken,
            toolsets=[ToolcribToolset(crib, **options)],
            capabilities=capabilities,
            output_type=output,
            deps_type=object,
        )
        yield Talk(agent, model, loop)
        loop.run(spoken.client.close())
    assert model.is_over


@contextmanager
def deferring(crib: Crib, turns: Sequence[Any], make: Make) -> Generator[Talk]:
    search = ToolSearch[object](strategy=toolcrib_search(crib))
    with talking(crib, turns, make, deferred=True, capabilities=[search]) as talk:
        yield talk


@pytest.mark.parametrize("make", [claude, chat, responses])
def test_a_search_reveals_and_the_tool_is_called(made: tuple[Crib, Weather], make: Make):
    crib, source = made
    script = [
        FIND,
        OSLO,
        Say("Sunny."),
        SearchTools("rain radar map"),
        CallTool(RADAR, {"city": "Oslo"}),
    ]
    with talking(crib, [*script, Say("No."), Say("Bye.")], make) as talk:
        assert talk.ask("How is the weather in Oslo?") == "Sunny."
        assert talk.ask("Does it rain?") == "No."
        assert talk.ask("Thanks") == "Bye."
        requests = talk.model.requests
    assert requests[0].sees == (NOW, "tool_search")
    assert {FORECAST, RADAR} <= set(requests[-1].sees)
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}] * 2
    assert b"sunny in Oslo" in requests[2].body
    key = "input" if make is responses else "messages"
    for earlier, later in pairwise(requests):
        assert grows(raw(earlier.body, "tools"), raw(later.body, "tools"))
        assert grows(raw(earlier.body, key), raw(later.body, key))


@pytest.mark.parametrize("make", [claude, responses])
def test_pydantic_ai_itself_keeps_the_cache_where_the_provider_can(crib: Crib, make: Make):
    with talking(crib, [FIND, OSLO, Say("Sunny.")], make) as talk:
        talk.ask("Weather?")
        first, *_, last = talk.model.requests
    at_once = [tool for tool in last.json["tools"] if "defer_loading" not in tool]
    assert at_once == first.json["tools"]


@pytest.mark.parametrize("make", [claude, responses])
def test_the_capability_searches_with_our_ranking(made: tuple[Crib, Weather], make: Make):
    crib, source = made
    search = CallTool(
        "search_tools" if make is claude else "tool_search", {"queries": ["forecast"]}
    )
    with deferring(crib, [search, OSLO, Say("Sunny."), Say("Yes.")], make) as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert talk.ask("Sure?") == "Yes."
        requests = talk.model.requests
    assert set(requests[0].sees) == {NOW, search.name}
    assert FORECAST in requests[-1].sees
    assert len({raw(request.body, "tools") for request in requests}) == 1
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}]


def test_the_capability_finds_only_what_it_was_offered(crib: Crib):
    search = CallTool("search_tools", {"queries": ["select:" + NOW, "no such thing xyzzy"]})
    with deferring(crib, [search, Say("Hm.")], chat) as talk:
        assert talk.ask("Weather?") == "Hm."
        assert talk.model.requests[-1].sees == (NOW, "search_tools")


def test_two_conversations_at_once_do_not_see_each_others_reveals(crib: Crib):
    with talking(crib, [FIND, Say("Found."), Say("Hi."), OSLO, Say("Sunny.")]) as one:
        one.ask("Weather?")
        other = Talk(one.agent, one.model, one.loop)
        other.ask("Hello")
        assert one.model.requests[-1].sees == (NOW, "tool_search")
        assert one.ask("In Oslo?") == "Sunny."


def test_a_stored_history_brings_the_reveals_back(crib: Crib):
    with talking(crib, [FIND, Say("Found.")]) as talk:
        talk.ask("Weather?")
        stored = ModelMessagesTypeAdapter.dump_json(talk.history)
    anew, source = weather_crib()
    with talking(anew, [OSLO, Say("Sunny.")]) as talk:
        talk.history = ModelMessagesTypeAdapter.validate_json(stored)
        assert talk.ask("In Oslo?") == "Sunny."
    assert len(source.reached) == 1


def test_after_compaction_only_what_is_still_said_is_revealed(crib: Crib):
    with talking(crib, [FIND, OSLO, Say("Sunny."), Say("Hm."), FIND, OSLO, Say("Yes.")]) as talk:
        talk.ask("Weather?")
        talk.history = [ModelRequest.user_text_prompt("Summary: it was sunny.")]
        talk.ask("Go on")
        assert talk.model.requests[-1].sees == (NOW, "tool_search")
        assert talk.ask("Once more") == "Yes."


def test_what_was_called_in_the_part_that_is_kept_stays_in_sight(crib: Crib):
    with talking(crib, [FIND, OSLO, Say("Sunny."), OSLO, Say("Yes.")]) as talk:
        talk.ask("Weather?")
        summary = ModelRequest.user_text_prompt("Summary: a tool was found.")
        talk.history = [summary, *talk.history[3:]]
        assert talk.ask("Sure?") == "Yes."
        assert talk.model.requests[3].sees == (NOW, "tool_search", FORECAST)


def test_what_a_request_showed_can_be_called_in_reply_to_it():
    crib, source = growing_crib()
    with talking(crib, [OSLO, Say("Sunny."), OSLO, Say("Still.")], claude) as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert talk.ask("And now?") == "Still."
        first, second, *_ = talk.model.requests
    assert RADAR in first.sees
    assert RADAR not in second.sees
    assert FORECAST in second.sees
    assert len(source.reached) == 2


def test_an_error_is_told_and_does_not_end_the_run(made: tuple[Crib, Weather]):
    crib, source = made
    wrong = CallTool(FORECAST, {"town": "Rome"})
    with talking(crib, [FIND, wrong, wrong, wrong, Say("Sorry.")]) as talk:
        assert talk.ask("Weather?") == "Sorry."
        assert b"bad_arguments" in talk.model.requests[-1].body
    assert source.reached == []


@pytest.mark.parametrize("make", [claude, chat, responses])
def test_a_tool_that_was_not_found_is_answered_with_the_way_to_it_each_time(
    made: tuple[Crib, Weather], make: Make
):
    crib, source = made
    guess = replace(OSLO, guess=True)
    with talking(crib, [guess, guess, guess, FIND, OSLO, Say("Sunny.")], make) as talk:
        assert talk.ask("Weather?") == "Sunny."
        refused = talk.model.requests[1:4]
    for place, request in enumerate(refused, 1):
        assert request.body.count(f"select:{FORECAST}".encode()) == place
        assert request.sees == (NOW, "tool_search")
    assert len(source.reached) == 1


def test_a_tool_that_nobody_has_is_answered_with_the_nearest_names(crib: Crib):
    guess = CallTool("mcp_weather_current_tim", guess=True)
    with talking(crib, [guess, guess, guess, Say("Sorry.")]) as talk:
        assert talk.ask("What time is it?") == "Sorry."
        assert b"unknown_tool" in talk.model.requests[-1].body
        assert NOW.encode() in talk.model.requests[-1].body


def test_a_guess_beside_tools_of_the_agent_is_answered_too(crib: Crib):
    with talking(crib, [CallTool("dice"), *[replace(OSLO, guess=True)] * 3, Say("Four.")]) as talk:

        @talk.agent.tool_plain
        def dice() -> int:
            """Roll a die."""
            return 4

        assert talk.ask("Roll a die") == "Four."
        assert f"select:{FORECAST}".encode() in talk.model.requests[-1].body


@pytest.mark.parametrize("make", [chat, responses])
def test_arguments_that_are_no_json_do_not_end_the_run(made: tuple[Crib, Weather], make: Make):
    crib, source = made
    broken = CallTool(FORECAST, '{"city": "Os')
    with talking(crib, [FIND, broken, broken, broken, OSLO, Say("Sunny.")], make) as talk:
        assert talk.ask("Weather?") == "Sunny."
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}]


def test_the_capability_refuses_what_was_not_found_and_goes_on(made: tuple[Crib, Weather]):
    crib, source = made
    find = CallTool("search_tools", {"queries": ["forecast"]})
    guess = replace(OSLO, guess=True)
    with deferring(crib, [guess, guess, guess, guess, find, OSLO, Say("Sunny.")], chat) as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert b"search for it first" in talk.model.requests[1].body
    assert len(source.reached) == 1


def test_images_are_handed_on_as_images(made: tuple[Crib, Weather]):
    crib, source = made
    block: Any = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
    source.answer = lambda _call: Outcome([{"type": "text", "text": "the radar"}, block])
    with talking(
        crib, [SearchTools("rain radar"), CallTool(RADAR, {"city": "Oslo"}), Say("No.")], claude
    ) as talk:
        talk.ask("Rain?")
        [result] = talk.model.requests[-1].json["messages"][-1]["content"]
    kinds = [part["type"] for part in result["content"]]
    assert kinds == ["text", "image"]
    assert result["content"][1]["source"]["data"] == block["data"]


def test_the_session_may_depend_on_the_run(crib: Crib):
    def session(deps: Any):
        return crib.session(caller=Caller(deps, Scope(allowed=frozenset({NOW}))))

    with talking(session, [Say("Hi.")]) as talk:
        talk.ask("Hello", deps="ann")
        assert talk.model.requests[0].sees == (NOW,)
        assert roles(talk.model.requests[0]) == ["user"]


def test_the_note_is_in_the_instructions_unless_it_is_not_wanted(crib: Crib):
    with talking(crib, [Say("Hi.")]) as talk:
        talk.ask("Hello")
        assert crib.session().system_note() in talk.model.requests[0].json["messages"][0]["content"]
    with talking(crib, [Say("Hi.")], note=False) as talk:
        talk.ask("Hello")
        assert roles(talk.model.requests[0]) == ["user"]


def roles(request: Request) -> list[str]:
    return [message["role"] for message in request.json["messages"]]


@pytest.fixture
def asked_for(made: tuple[Crib, Weather]) -> tuple[Crib, Weather]:
    """The crib, in which the forecast is asked for."""
    crib, source = made
    source.tools["get_forecast"] = replace(source.tools["get_forecast"], permission_kind="write")
    inventory_of(crib).pool.refresh(source)
    return crib, source


def test_where_a_person_is_to_be_asked_the_run_ends_with_a_request(
    asked_for: tuple[Crib, Weather],
):
    crib, source = asked_for
    output = [str, DeferredToolRequests]
    script = [FIND, OSLO, Say("Sunny."), OSLO, Say("Not.")]
    with talking(crib, script, output=output) as talk:
        requests = talk.ask("Weather?")
        [call] = requests.approvals
        assert (call.tool_name, call.args_as_dict()) == (FORECAST, {"city": "Oslo"})
        assert requests.metadata[call.tool_call_id]["permission_kind"] == "write"
        assert source.reached == []
        approved = requests.build_results(approve_all=True, metadata=requests.metadata)
        assert talk.ask(None, deferred_tool_results=approved) == "Sunny."
        assert len(source.reached) == 1
        requests = talk.ask("Again")
        [call] = requests.approvals
        denied = DeferredToolResults(approvals={call.tool_call_id: False})
        assert talk.ask(None, deferred_tool_results=denied) == "Not."
    assert len(source.reached) == 1


def test_leave_is_for_the_definition_that_was_shown(asked_for: tuple[Crib, Weather]):
    crib, source = asked_for
    with talking(crib, [FIND, OSLO, Say("Hm.")], output=[str, DeferredToolRequests]) as talk:
        requests = talk.ask("Weather?")
        source.tools["get_forecast"] = replace(source.tools["get_forecast"], description="Spy")
        inventory_of(crib).pool.refresh(source)
        approved = requests.build_results(approve_all=True, metadata=requests.metadata)
        assert talk.ask(None, deferred_tool_results=approved) == "Hm."
        assert b"has changed since it was approved" in talk.model.requests[-1].body
    assert source.reached == []


@pytest.mark.parametrize("make", [chat, claude, responses])
def test_what_the_user_asks_for_is_shown_before_any_search(make: Make):
    crib, source = prefetching()
    script = [Say("Hi."), OSLO, Say("Sunny."), CallTool(RADAR, {"city": "Oslo"}), Say("No.")]
    with talking(crib, script, make) as talk:
        for message in ("Hello", FORECAST, RADAR):
            talk.ask(message)
        requests = talk.model.requests
    assert [FORECAST in each.sees for each in requests] == [False] + [True] * 4
    assert [RADAR in each.sees for each in requests] == [False] * 3 + [True] * 2
    assert [call.name for call in source.reached] == ["get_forecast", "rain_radar"]
    if make is chat:
        for earlier, later in pairwise(requests):
            assert grows(raw(earlier.body, "tools"), raw(later.body, "tools"))


def test_no_result_is_prefetched_and_text_beside_an_image_is():
    crib, source = prefetching()
    source.answer = lambda _call: Outcome(RADAR)
    with talking(crib, [OSLO, Say("Sunny.")]) as talk:
        picture = BinaryContent(b"hello", media_type="image/png")
        talk.loop.run(talk.agent.run([picture, FORECAST]))
        assert [FORECAST in each.sees for each in talk.model.requests] == [True, True]
        assert all(RADAR not in each.sees for each in talk.model.requests)


def test_by_default_claude_searches_by_itself_and_others_are_shown_at_once():
    crib, _ = prefetching("auto")
    crib.session().prefetch(FORECAST)  # of another conversation
    with talking(crib, [Say("Hi.")], claude) as talk:
        talk.ask(FORECAST)
        assert FORECAST not in talk.model.requests[0].sees
    with talking(crib, [OSLO, Say("Sunny.")], chat) as talk:
        assert talk.ask(FORECAST) == "Sunny."


def test_the_context_of_a_run_reaches_a_function_and_no_model():
    def book(ctx: RunContext[str], room: str) -> str:
        """Book a room."""
        return f"{room} is booked for {ctx.deps}"

    crib = Crib(Settings(store=":memory:", embed={"embedder": "none"}))
    crib.add(book)
    turns = [CallTool("book", {"room": "Blue"}), Say("Done.")]
    with crib, talking(crib, turns) as talk:
        talk.ask("Book Blue", deps="ann")
        [tool, *_] = talk.model.requests[0].json["tools"]
        assert list(tool["function"]["parameters"]["properties"]) == ["room"]
        assert talk.model.requests[1].json["messages"][-1]["content"] == "Blue is booked for ann"
    outside = Crib(Settings(store=":memory:", embed={"embedder": "none"}))
    outside.add(book)
    error = asyncio.run(outside.call("book", {"room": "Blue"})).error
    assert error
    assert "a framework fills in ctx" in error.message
