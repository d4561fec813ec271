"""What only the Responses API has: searches of its own, namespaces, tools that items add."""

import asyncio
from functools import partial
from typing import Any

import pytest
from openai import BadRequestError

from tests.adapters import talks
from tests.adapters.weather import FORECAST, NOW, Weather, raw, weather_crib
from toolcrib import Crib
from toolcrib.adapters.auto import Auto
from toolcrib.adapters.openai_responses import ResponsesWire
from toolcrib.adapters.openai_responses.conversation import as_spoken
from toolcrib.adapters.wire.reply import sdk_json
from toolcrib.testing import CallTool, Say, SearchTools

OSLO = CallTool(FORECAST, {"city": "Oslo"})
FIND = SearchTools("weather forecast")
talking = partial(talks.talking, talks.ResponsesTalk)


@pytest.fixture(scope="module")
def crib() -> Crib:
    return weather_crib()[0]


def typed(items: Any, kind: str) -> list[Any]:
    return [item for item in items if item.get("type") == kind]


def test_a_search_of_ours_is_answered_with_definitions_in_namespaces(crib: Crib):
    with talking(crib, [FIND, OSLO, Say("Sunny."), Say("Yes.")]) as talk:
        talk.ask("Weather?")
        talk.ask("Sure?")
        first, second, third, _ = talk.model.requests
    assert first.json["tools"][-1]["type"] == "tool_search"
    assert first.json["tools"][-1]["execution"] == "client"
    assert "queries" in first.json["tools"][-1]["parameters"]["properties"]
    [output] = typed(second.json["input"], "tool_search_output")
    [namespace] = output["tools"]
    assert (namespace["type"], namespace["name"]) == ("namespace", "weather")
    assert namespace["tools"][0]["name"] == FORECAST
    assert namespace["tools"][0]["defer_loading"] is True
    [call] = typed(third.json["input"], "function_call")
    assert call["namespace"] == "weather"
    [result] = typed(third.json["input"], "function_call_output")
    assert result["output"] == "sunny in Oslo"


def test_what_is_loaded_is_not_loaded_again(crib: Crib):
    with talking(crib, [FIND, FIND, Say("Found.")]) as talk:
        talk.ask("Weather?")
        first, second = typed(talk.model.requests[-1].json["input"], "tool_search_output")
    assert first["tools"]
    assert second["tools"] == []


def test_a_namespace_that_got_lost_is_put_back(crib: Crib):
    with talking(crib, [FIND, OSLO, Say("Sunny."), Say("Yes.")]) as talk:
        talk.ask("Weather?")
        for item in talk.history:
            if getattr(item, "type", "") == "function_call":
                item.namespace = None
        assert talk.ask("Sure?") == "Yes."


@pytest.mark.parametrize("mode", ["output", "inject"])
def test_a_kept_call_is_loaded_again_in_its_namespace(crib: Crib, mode: Any):
    with talking(crib, [FIND, OSLO, Say("Sunny."), Say("Yes.")], mode=mode) as talk:
        talk.ask("Weather?")
        called = next(
            place for place, item in enumerate(talk.history) if "Oslo" in str(sdk_json(item))
        )
        talk.history = [talk.user("Summary."), *talk.history[called:]]
        talk.ask("Sure?")
        items = talk.model.requests[-1].json["input"]
    kinds = [item.get("type", "message") for item in items]
    loading = ["tool_search_call", "tool_search_output"] if mode == "output" else []
    loading = loading or ["additional_tools"]
    assert kinds[1 : 2 + len(loading)] == [*loading, "function_call"]
    [call] = typed(items, "function_call")
    assert call["namespace"] == ("weather" if mode == "output" else FORECAST)


def test_a_kept_call_of_a_tool_that_is_gone_loses_its_namespace(crib: Crib):
    call = {"type": "function_call", "call_id": "1", "name": "gone", "arguments": "{}"}
    answer = {"type": "function_call_output", "call_id": "1", "output": "sunny"}
    with talking(crib, [Say("Yes.")]) as talk:
        talk.history = [talk.user("Summary."), {**call, "namespace": "weather"}, answer]
        talk.ask("Sure?")
        [kept] = typed(talk.model.requests[-1].json["input"], "function_call")
    assert kept == call


def test_what_was_found_in_words_is_loaded(crib: Crib):
    with talking(crib, [FIND, Say("Found.")], mode="append") as talk:
        talk.ask("Weather?")
    with talking(crib, [OSLO, Say("Sunny.")], None, mode="inject") as again:
        again.history = talk.history
        assert again.ask("In Oslo?") == "Sunny."


def test_items_may_add_tools_where_there_is_no_search(crib: Crib):
    with talking(crib, [FIND, OSLO, Say("Sunny.")], mode="inject") as talk:
        talk.ask("Weather?")
        [added] = typed(talk.model.requests[1].json["input"], "additional_tools")
    assert added["role"] == "developer"
    assert added["tools"][0]["name"] == FORECAST
    assert "defer_loading" not in added["tools"][0]


def test_the_provider_may_search_itself(crib: Crib):
    script = [SearchTools("forecast", finds=[FORECAST]), OSLO, Say("Sunny."), Say("Yes.")]
    with talking(crib, script, search="hosted") as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert talk.ask("Sure?") == "Yes."
        first, *_, last = talk.model.requests
    spaces = typed(first.json["tools"], "namespace")
    assert [space["name"] for space in spaces] == [
        "plenty",
        "plenty_2",
        "plenty_3",
        "plenty_4",
        "weather",
    ]
    assert all(len(space["tools"]) < 10 for space in spaces)
    assert raw(first.body, "tools") == raw(last.body, "tools")
    assert list(first.sees) == [NOW, "tool_search"]
    assert [tool.name for tool in talk.session.revealed_tools()] == [FORECAST]
    assert talk.wire.system_note() == ""


@pytest.mark.parametrize(
    ("unknown", "mode"),
    [(["tool_search"], "inject"), (["tool_search", "additional_tools"], "append")],
)
def test_a_refusal_leads_to_the_next_wire(crib: Crib, unknown: list[str], mode: str):
    auto, script = Auto(), [FIND, OSLO, Say("Sunny.")]
    with talking(crib, script, auto=auto, unknown=unknown) as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert talk.wire.choice.mode == mode
    with talking(crib, script, auto=auto, unknown=unknown) as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert not any(request.refusal for request in talk.model.requests)


@pytest.mark.parametrize("mode", ["inject", "append", "proxy"])
def test_a_conversation_goes_on_where_there_is_no_search(crib: Crib, mode: Any):
    with talking(crib, [FIND, OSLO, Say("Sunny.")]) as talk:
        talk.ask("Weather?")
    with talking(crib, [OSLO, Say("Still.")], None, unknown=["tool_search"], mode=mode) as other:
        other.history = talk.history
        assert other.ask("And now?") == "Still."


def test_a_search_of_the_providers_own_is_left_out_elsewhere():
    facts = {"execution": "server", "call_id": None}
    items: Any = [{"type": kind, **facts} for kind in ("tool_search_call", "tool_search_output")]
    assert as_spoken(items, "append") == []


@pytest.mark.parametrize(
    ("model", "endpoint", "mode"),
    [
        ("gpt-5.5-2026-04-23", "https://api.openai.com/v1", "output"),
        ("gpt-5.4-nano", "https://api.openai.com/v1", "inject"),
        ("gpt-5.5", "https://gate.example/v1", "append"),
    ],
)
def test_the_model_and_the_endpoint_decide(crib: Crib, model: str, endpoint: str, mode: str):
    wire = ResponsesWire(crib.session(), model=model, endpoint=endpoint)
    assert wire.choice.mode == mode


def test_another_error_is_not_taken_for_a_refusal(crib: Crib):
    with talking(crib, []) as talk, pytest.raises(BadRequestError, match="script is over"):
        talk.ask("Hello")
    assert talk.wire.choice.mode == "output"


def test_bad_arguments_of_a_search_are_told(crib: Crib):
    wire = ResponsesWire(crib.session(), model="gpt-5.5", endpoint="https://api.openai.com")
    call = {
        "type": "tool_search_call",
        "execution": "client",
        "call_id": "1",
        "arguments": {"q": 1},
    }
    output, message = asyncio.run(wire.results({"output": [call]}))
    assert output.get("tools") == []
    assert "bad_arguments" in str(message)


def test_sources_with_odd_names_have_namespaces_that_the_api_takes():
    source = Weather()
    source.id = "météo of the city " * 8
    crib = Crib()
    crib.add_source(source)
    session = crib.session(tool_search="on")
    assert session.core_tools()
    from toolcrib.adapters.wire.tool_list import namespace_name  # noqa: PLC0415

    assert all(len(namespace_name(tool)) <= 64 for tool in session.core_tools())
