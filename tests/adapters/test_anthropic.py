"""What only the Messages API has: references, deferred tools, searches of its own."""

import asyncio
from functools import partial
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic, BadRequestError

from tests.adapters import talks
from tests.adapters.weather import FORECAST, NOW, RADAR, Weather, grows, raw, weather_crib
from toolcrib import Crib
from toolcrib.adapters.anthropic import AnthropicWire
from toolcrib.adapters.auto import Auto
from toolcrib.crib import inventory_of
from toolcrib.errors import ConfigError
from toolcrib.testing import CallTool, Request, Say, ScriptedModel, SearchTools

MODEL = "claude-opus-5-5"
OSLO = CallTool(FORECAST, {"city": "Oslo"})
AT_HOME = "https://api.anthropic.com"


talking = partial(talks.talking, talks.AnthropicTalk)


@pytest.fixture
def made() -> tuple[Crib, Weather]:
    return weather_crib()


@pytest.fixture
def crib(made: tuple[Crib, Weather]) -> Crib:
    return made[0]


def tools(request: Request) -> list[Any]:
    return request.json["tools"]


def names(request: Request) -> list[str]:
    return [tool["name"] for tool in tools(request)]


def last_result(request: Request) -> Any:
    [block] = request.json["messages"][-1]["content"]
    return block


def test_a_search_reveals_and_the_tool_is_called(made: tuple[Crib, Weather]):
    crib, source = made
    with talking(crib, [SearchTools("weather forecast"), OSLO, Say("Sunny."), Say("Yes.")]) as talk:
        assert talk.ask("How is the weather in Oslo?") == "Sunny."
        assert talk.ask("Sure?") == "Yes."
        first, second, third, fourth = talk.model.requests
    assert names(first) == [NOW, "tool_search"]
    assert last_result(second)["content"][0] == {
        "type": "tool_reference",
        "tool_name": FORECAST,
    }
    assert tools(second)[2]["name"] == FORECAST
    assert all(tool["defer_loading"] for tool in tools(second)[2:])
    assert last_result(third)["content"] == "sunny in Oslo"
    assert "is_error" not in last_result(third)
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}]
    assert FORECAST in fourth.sees
    assert "anthropic-beta" not in first.headers


def test_the_tools_that_the_provider_caches_never_change(crib: Crib):
    script = [Say("Hi."), SearchTools("weather forecast"), OSLO, Say("Sunny."), Say("Still.")]
    script += [SearchTools("rain radar map"), CallTool(RADAR, {"city": "Oslo"}), OSLO, Say("No.")]
    with talking(crib, [*script, Say("Bye.")]) as talk:
        for question in ("Hello", "Weather?", "Sure?", "Rain?", "Thanks"):
            talk.ask(question)
        requests = talk.model.requests
    assert len(requests) == 10
    hashed = [[tool for tool in tools(each) if "defer_loading" not in tool] for each in requests]
    assert all(each == hashed[0] for each in hashed)


def test_what_a_summary_dropped_stays_deferred_until_it_is_found_again(crib: Crib):
    find = SearchTools("weather forecast")
    with talking(crib, [find, Say("Found."), Say("Hm."), find, OSLO, Say("Sunny.")]) as talk:
        talk.ask("Weather?")
        talk.history = [{"role": "user", "content": "Summary: a tool was found."}]
        talk.ask("Go on")
        assert list(talk.model.requests[-1].sees) == [NOW, "tool_search"]
        assert talk.ask("In Oslo?") == "Sunny."
        requests = talk.model.requests
    assert len({raw(each.body, "tools") for each in requests[1:]}) == 1


def test_before_a_call_that_nothing_refers_to_stands_a_search(crib: Crib):
    with talking(crib, [SearchTools("weather forecast"), OSLO, Say("Sunny."), Say("Yes.")]) as talk:
        talk.ask("Weather?")
        talk.history = [{"role": "user", "content": "Summary."}, *talk.history[3:]]
        talk.ask("Sure?")
        [_, search, found, *rest] = talk.model.requests[-1].json["messages"]
    assert search["content"][0]["input"] == {"query": f"select:{FORECAST}"}
    assert found["content"][0]["content"] == [{"type": "tool_reference", "tool_name": FORECAST}]
    assert rest[0]["content"][0]["name"] == FORECAST


def test_what_was_found_in_words_is_referred_to(crib: Crib):
    find = SearchTools(f"select:{FORECAST},nope")
    with talking(crib, [find, Say("Found.")], mode="append") as talk:
        talk.ask("Weather?")
    with talking(crib, [OSLO, Say("Sunny.")], None) as again:
        again.history = talk.history
        assert again.ask("In Oslo?") == "Sunny."
        [result, besides] = again.model.requests[0].json["messages"][2]["content"]
    assert result["content"] == [{"type": "tool_reference", "tool_name": FORECAST}]
    assert "no 'nope'; nearest: " in besides["text"]


def test_parallel_calls_are_answered_in_order(crib: Crib):
    script = [[SearchTools("weather forecast"), SearchTools("no such thing at all xyzzy")]]
    script += [[OSLO, CallTool(FORECAST, {"town": "Rome"}), CallTool(NOW)]]
    with talking(crib, [*script, Say("Done.")]) as talk:
        talk.ask("Weather?")
        searched = talk.model.requests[1].json["messages"][-1]["content"]
        called = talk.model.requests[2].json["messages"][-1]["content"]
    assert [each["type"] for each in searched] == ["tool_result"] * 2
    assert isinstance(searched[1]["content"], str)
    assert [each.get("is_error", False) for each in called] == [False, True, False]
    assert "bad_arguments" in called[1]["content"]


def test_a_call_of_what_was_not_found_is_refused_and_does_not_reveal(crib: Crib):
    with talking(crib, [Say("Hi.")]) as talk:
        use: Any = {"type": "tool_use", "id": "1", "name": FORECAST, "input": {"city": "Oslo"}}
        [answer] = asyncio.run(talk.wire.results({"content": [use], "stop_reason": "tool_use"}))
        assert "not_revealed" in answer["content"][0]["content"]
        talk.history.extend([{"role": "assistant", "content": [use]}, answer])
        talk.ask("Hello")
        assert names(talk.model.requests[-1]) == [NOW, "tool_search"]


def test_a_tool_that_is_gone_is_not_referred_to_any_more(made: tuple[Crib, Weather]):
    crib, source = made
    with talking(crib, [SearchTools("weather forecast"), Say("Found."), Say("Gone.")]) as talk:
        talk.ask("Weather?")
        del source.tools["get_forecast"]
        inventory_of(crib).pool.refresh(source)
        assert talk.ask("And now?") == "Gone."


@pytest.mark.parametrize("search", ["bm25", "regex"])
def test_the_provider_may_search_itself(crib: Crib, search: Any):
    script = [SearchTools("forecast", finds=[FORECAST]), OSLO, Say("Sunny."), Say("Yes.")]
    with talking(crib, script, search=search) as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert talk.ask("Sure?") == "Yes."
        first, *_, last = talk.model.requests
    assert names(first)[:2] == [NOW, f"tool_search_tool_{search}"]
    assert len(tools(first)) == 2 + 32
    assert raw(first.body, "tools") == raw(last.body, "tools")
    assert [tool.name for tool in talk.session.revealed_tools()] == [FORECAST]
    assert talk.wire.system_note() == ""


def test_more_than_the_provider_searches_is_told(crib: Crib, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolcrib.adapters.anthropic.wire.MOST_DEFERRED", 3)
    wire = AnthropicWire(crib.session(), model=MODEL, endpoint=AT_HOME, search="bm25")
    with pytest.raises(ConfigError, match="search='ours'"):
        wire.request([])


@pytest.mark.parametrize("search", ["ours", "bm25"])
def test_the_cache_mark_is_on_the_last_tool_that_is_not_deferred(crib: Crib, search: Any):
    script = [SearchTools("weather forecast", finds=[FORECAST]), OSLO, Say("Sunny.")]
    with talking(crib, script, search=search, cache_control={"type": "ephemeral"}) as talk:
        talk.ask("Weather?")
        for request in talk.model.requests:
            assert [each["name"] for each in tools(request) if "cache_control" in each] == [
                names(request)[1]
            ]


def test_elsewhere_tools_are_appended(crib: Crib):
    with talking(
        crib,
        [SearchTools("weather forecast"), OSLO, Say("Sunny.")],
        endpoint="https://gate.example",
    ) as talk:
        assert talk.ask("Weather?") == "Sunny."
        bodies = [request.body for request in talk.model.requests]
    assert not any(b"defer_loading" in body or b"tool_reference" in body for body in bodies)
    assert grows(raw(bodies[0], "tools"), raw(bodies[1], "tools"))


def test_a_refusal_demotes_the_endpoint_for_everyone_who_shares(crib: Crib):
    auto, script = Auto(), [SearchTools("weather forecast"), OSLO, Say("Sunny.")]
    with talking(crib, script, auto=auto, unknown=["defer_loading"]) as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert sum(bool(request.refusal) for request in talk.model.requests) == 1
        assert talk.wire.choice.mode == "append"
        assert "has refused reference" in talk.wire.choice.why
    with talking(crib, script, "other", auto=auto, unknown=["defer_loading"]) as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert not any(request.refusal for request in talk.model.requests)


def test_another_error_is_not_taken_for_a_refusal(crib: Crib):
    with talking(crib, []) as talk, pytest.raises(BadRequestError, match="script is over"):
        talk.ask("Hello")
    assert talk.wire.choice.mode == "reference"


@pytest.mark.parametrize("thread", [{}, {"thread": False}])
def test_the_runner_of_the_sdk_finds_and_calls(made: tuple[Crib, Weather], thread: Any):
    crib, source = made
    wire = AnthropicWire(crib.session(), model=MODEL, endpoint=AT_HOME)
    script = [
        SearchTools("weather forecast"),
        OSLO,
        CallTool(FORECAST, {"town": "Oslo"}),
        Say("Sunny."),
    ]

    async def run(model: ScriptedModel) -> Any:
        async with AsyncAnthropic(base_url=model.url, api_key="none", max_retries=0) as client:
            runner = client.beta.messages.tool_runner(
                model=MODEL,
                max_tokens=100,
                messages=[{"role": "user", "content": "Weather?"}],
                tools=wire.runner_tools(),
                **thread,
            )
            return await runner.until_done()

    with ScriptedModel(script) as model:
        assert asyncio.run(run(model)).content[0].text == "Sunny."
        first, *_, last = model.requests
    assert first.sees == (NOW, "tool_search")
    assert len(tools(first)) == 2 + 32
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}]
    assert last.json["messages"][-1]["content"][0]["is_error"]


def test_a_runner_is_told_in_words_what_references_cannot_say(made: tuple[Crib, Weather]):
    crib, source = made
    wire = AnthropicWire(crib.session(), model=MODEL, endpoint=AT_HOME)
    script = [
        SearchTools(f"select:{FORECAST},nope"),
        SearchTools(f"select:{FORECAST}"),
        OSLO,
        Say("Sunny."),
    ]
    with (
        ScriptedModel(script) as model,
        Anthropic(base_url=model.url, api_key="none", max_retries=0) as client,
    ):
        runner = client.beta.messages.tool_runner(
            model=MODEL,
            max_tokens=100,
            messages=[{"role": "user", "content": "Weather?"}],
            tools=wire.blocking_runner_tools(),
            thread=False,
        )
        assert runner.until_done().stop_reason == "end_turn"
        said = last_result(model.requests[1])["content"]
        assert said.startswith("Not loaded yet")
        assert "no 'nope'; nearest: " in said
        assert FORECAST not in model.requests[1].sees
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}]


def test_words_stand_behind_all_results(crib: Crib):
    find = SearchTools(f"select:{FORECAST},nope")
    with talking(crib, [[find, CallTool(NOW)], Say("Hm.")]) as talk:
        talk.ask("Weather?")
        content = talk.model.requests[-1].json["messages"][-1]["content"]
    assert [block["type"] for block in content] == ["tool_result", "tool_result", "text"]
    assert {block["type"] for block in content[0]["content"]} == {"tool_reference"}


def test_the_blocking_runner_has_the_proxy_where_the_wire_is_not_known(made: tuple[Crib, Weather]):
    crib, source = made
    wire = AnthropicWire(crib.session(), model=MODEL, endpoint="https://gate.example")
    with (
        ScriptedModel([SearchTools("weather forecast"), OSLO, Say("Sunny.")]) as model,
        Anthropic(base_url=model.url, api_key="none", max_retries=0) as client,
    ):
        runner = client.beta.messages.tool_runner(
            model=MODEL,
            max_tokens=100,
            messages=[{"role": "user", "content": "Weather?"}],
            tools=wire.blocking_runner_tools(),
        )
        assert runner.until_done().stop_reason == "end_turn"
        assert model.requests[0].sees == (NOW, "tool_search", "call_tool")
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}]
