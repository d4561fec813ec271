"""What the user's message shows before any search: on every wire, at the provider's door."""

import json
from itertools import pairwise
from typing import Any

import pytest

from tests.adapters.talks import CONSTANT, WIRES, on_every_wire
from tests.adapters.weather import FORECAST, NOW, RADAR, Weather, grows, raw, weather_crib
from toolcrib import Crib
from toolcrib.adapters.auto import choose_prefetch
from toolcrib.model import Outcome
from toolcrib.session.prefetch import SURE
from toolcrib.testing import CallTool, Say, SearchTools

OSLO = CallTool(FORECAST, {"city": "Oslo"})
RAIN = CallTool(RADAR, {"city": "Oslo"})
PROXY = "call_tool"


@pytest.fixture(scope="module")
def shared() -> tuple[Crib, Weather]:
    return weather_crib()


@pytest.fixture
def made(shared: tuple[Crib, Weather]) -> tuple[Crib, Weather]:
    shared[1].reached.clear()
    return shared


@pytest.fixture
def crib(made: tuple[Crib, Weather]) -> Crib:
    return made[0]


def is_shown(request: Any, name: str, tool: str = FORECAST) -> bool:
    """Whether the model can call this tool, or reads of it where it calls all through one."""
    return f"- {tool}(" in text_of(request) if "proxy" in name else tool in request.sees


def text_of(request: Any) -> str:
    return json.dumps(request.json, ensure_ascii=False)


@pytest.mark.parametrize("id", ["one", None])
@on_every_wire
def test_a_sure_hit_is_called_without_a_search(
    made: tuple[Crib, Weather], name: str, id: str | None
):
    crib, source = made
    with WIRES[name](crib, [OSLO, Say("Sunny.")], id, prefetch="on") as talk:
        assert talk.ask(FORECAST) == "Sunny."
        first, _ = talk.model.requests
    assert is_shown(first, name)
    assert not is_shown(first, name, RADAR)
    assert talk.listed(first)[:2] == [NOW, "tool_search"]
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}]


@pytest.mark.parametrize("id", ["one", None])
@on_every_wire
def test_what_was_sent_keeps_its_bytes_over_the_turns(crib: Crib, name: str, id: str | None):
    script = [Say("Hi."), OSLO, Say("Sunny."), Say("Yes."), SearchTools("select:turn_gear_3")]
    script += [RAIN, Say("No."), OSLO, Say("Sunny.")]
    with WIRES[name](crib, script, id, prefetch="on") as talk:
        for message in ("Hello", FORECAST, "yes, do it", RADAR, FORECAST):
            talk.ask(message)
        requests, key = talk.model.requests, talk.key
    assert not is_shown(requests[0], name)
    assert [is_shown(each, name) for each in requests[1:]] == [True] * 8
    assert [is_shown(each, name, RADAR) for each in requests] == [False] * 4 + [True] * 5
    for earlier, later in pairwise(requests):
        assert grows(raw(earlier.body, key), raw(later.body, key))
    tools = [raw(each.body, "tools") for each in requests]
    if name in CONSTANT:
        assert set(tools) == {tools[0]}
    elif name != "gemini":  # its list lies in an object
        assert all(grows(*pair) for pair in pairwise(tools))


@on_every_wire
def test_off_and_a_message_that_asks_for_nothing_show_nothing(crib: Crib, name: str):
    with WIRES[name](crib, [Say("Hi.")]) as talk:
        talk.ask(FORECAST)
        assert not is_shown(talk.model.requests[0], name)
    with WIRES[name](crib, [Say("Hi.")], prefetch="on") as talk:
        talk.ask("Good morning! Who are you?")
        assert not is_shown(talk.model.requests[0], name)
        assert not talk.session.revealed_tools()


@on_every_wire
def test_no_result_of_a_tool_is_ever_searched(name: str):
    crib, source = weather_crib()
    source.answer = lambda _call: Outcome(RADAR)
    script = [OSLO, SearchTools(f"select:turn_gear_3,{RADAR}x"), Say("Sunny.")]
    with WIRES[name](crib, script, prefetch="on") as talk:
        talk.ask(FORECAST)
        last = talk.model.requests[-1]
    assert RADAR in text_of(last)
    assert not is_shown(last, name, RADAR)
    assert RADAR not in [tool.name for tool in talk.session.revealed_tools()]


@on_every_wire
def test_of_a_history_only_the_newest_message_is_searched(crib: Crib, name: str):
    with WIRES[name](crib, [RAIN, Say("Rain.")], prefetch="on") as talk:
        talk.history = [talk.user(FORECAST)]
        talk.ask(RADAR)
        first = talk.model.requests[0]
    assert is_shown(first, name, RADAR)
    assert not is_shown(first, name, FORECAST)


@on_every_wire
def test_compaction_keeps_what_a_message_that_is_left_has_shown(crib: Crib, name: str):
    script = [Say("One."), Say("Two."), RAIN, Say("Rain.")]
    with WIRES[name](crib, script, prefetch="on") as talk:
        talk.ask(FORECAST)
        talk.ask(RADAR)
        talk.history = talk.history[2:]
        talk.wire.compacted(talk.history)
        assert [tool.name for tool in talk.session.revealed_tools()] == [RADAR]
        talk.ask("go on")
        assert is_shown(talk.model.requests[2], name, RADAR)
        assert not is_shown(talk.model.requests[2], name, FORECAST)


IMAGE = "aGVsbG8="
PARTS: dict[str, Any] = {
    "anthropic": [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}},
        {"type": "text", "text": FORECAST},
    ],
    "chat": [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}},
        {"type": "text", "text": FORECAST},
    ],
    "responses": [
        {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}", "detail": "auto"},
        {"type": "input_text", "text": FORECAST},
    ],
}


@pytest.mark.parametrize("name", [name for name in WIRES if "gemini" not in name])
def test_of_a_message_with_an_image_the_text_is_searched(crib: Crib, name: str):
    parts = PARTS[name.split(maxsplit=1)[0]]
    with WIRES[name](crib, [OSLO, Say("Sunny."), Say("Hm.")], prefetch="on") as talk:
        talk.history = [{"role": "user", "content": parts[:1]}]
        talk.wire.request(talk.history)
        assert not talk.session.revealed_tools()
        talk.history = [{"role": "user", "content": parts}]
        talk.wire.request(talk.history)
        assert [tool.name for tool in talk.session.revealed_tools()] == [FORECAST]
        talk.ask("go on")
        talk.ask("thanks")


def test_on_chat_a_text_stays_a_text(crib: Crib):
    with WIRES["chat proxy"](crib, [Say("Hi.")], prefetch="on") as talk:
        talk.ask(FORECAST)
        [sent] = talk.model.requests[0].json["messages"]
    assert sent["content"].startswith(f"{FORECAST}\n\ntool_search found by the message above:")
    assert '"city":{"type":"string"}' in sent["content"]


def test_on_gemini_text_beside_results_is_not_the_users():
    crib, _ = weather_crib()
    with WIRES["gemini"](crib, [Say("Hi.")], prefetch="on") as talk:
        answered = {"functionResponse": {"name": NOW, "response": {"result": "noon"}}}
        talk.wire.request([{"role": "user", "parts": [answered, {"text": RADAR}]}])
        assert not talk.session.revealed_tools()
        talk.ask("Hello")


def test_by_default_a_model_that_searches_by_itself_is_left_alone(crib: Crib):
    with WIRES["anthropic"](crib, [Say("Hi.")], prefetch="auto") as talk:
        talk.ask(FORECAST)
        assert FORECAST not in talk.model.requests[0].sees
    with WIRES["chat"](crib, [OSLO, Say("Sunny.")], prefetch="auto") as talk:
        assert talk.ask(FORECAST) == "Sunny."
    with WIRES["chat"](crib, [Say("Hi.")], prefetch="auto", model="gpt-5.5") as talk:
        talk.ask(FORECAST)
        assert FORECAST not in talk.model.requests[0].sees


@pytest.mark.parametrize(
    "model",
    [
        *("", "qwen3:8b", "meta-llama/llama-4-scout", "openai/gpt-oss-120b", "gpt-4.1-mini"),
        *("gemini-3-pro", "mistral-small", "claude-3-haiku", "gpt-5.4-nano"),
    ],
)
def test_auto_prefetches_for_models_that_are_not_known_to_search(model: str):
    assert choose_prefetch("auto", model).on
    assert not choose_prefetch("off", model).on


@pytest.mark.parametrize(
    "model",
    [
        *("claude-opus-5-5", "claude-haiku-4-5-20251001", "anthropic/claude-opus-4.5"),
        *("gpt-5.4", "openai/gpt-5.5", "gpt-5.4-2026-03-17", "GPT-5.4-mini"),
    ],
)
def test_auto_leaves_models_alone_that_search(model: str):
    choice = choose_prefetch("auto", model)
    assert not choice.on
    assert "searches by itself" in str(choice)
    assert choose_prefetch("on", model).on


def test_a_thinking_model_that_refuses_our_search_is_asked_without_it(crib: Crib):
    class Refusal(Exception):
        status_code = 400

    expected = Refusal(
        "messages.1: Expected `thinking` or `redacted_thinking`, but found `tool_use`"
    )
    with WIRES["anthropic"](crib, [Say("Hi.")], prefetch="on") as talk:
        asked = [talk.user(FORECAST)]
        assert len(talk.wire.request(asked)["messages"]) == 3
        assert talk.wire.refused(expected)
        assert len(talk.wire.request(asked)["messages"]) == 1
        assert talk.wire.choice.mode == "reference"
        assert not talk.wire.refused(expected)
        talk.ask(FORECAST)


def test_the_bar_is_a_word_of_confidence():
    assert SURE == "high"
