"""A wire answers replies of its provider that are whole, and says what else it was handed."""

import asyncio
from typing import Any

import pytest
from anthropic.types import Message
from google.genai import types
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response

from tests.adapters.weather import FORECAST, Weather, weather_crib
from toolcrib import Crib
from toolcrib.adapters.anthropic import AnthropicWire
from toolcrib.adapters.gemini import GeminiWire, whole_reply
from toolcrib.adapters.openai_chat import ChatWire
from toolcrib.adapters.openai_responses import ResponsesWire
from toolcrib.errors import ReplyError

USE = {"type": "tool_use", "id": "1", "name": FORECAST, "input": {}}
TEXT = {"type": "text", "text": "Hm."}
CALL = {"id": "1", "type": "function", "function": {"name": FORECAST, "arguments": "{"}}
ITEM = {"type": "function_call", "id": "1", "call_id": "1", "name": FORECAST, "arguments": "{"}
PART = {"functionCall": {"id": "1", "name": FORECAST, "args": {}}}


def message(stop_reason: str | None, *content: Any) -> Message:
    return Message.model_construct(
        id="m",
        type="message",
        role="assistant",
        model="m",
        content=list(content),
        stop_reason=stop_reason,
    )


def completion(reason: str | None, **said: Any) -> ChatCompletion:
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", **said}}
    return ChatCompletion.construct(id="c", choices=[choice], created=0, model="m")


def response(status: str, *output: Any, **facts: Any) -> Response:
    return Response.construct(id="r", status=status, output=list(output), **facts)


def generated(reason: str | None, *parts: Any) -> types.GenerateContentResponse:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": reason}
    return types.GenerateContentResponse.model_validate({"candidates": [candidate]})


CHUNK = ChatCompletionChunk.construct(
    id="c", choices=[{"index": 0, "delta": {"content": "Hm"}, "finish_reason": None}]
)
BLOCKED = types.GenerateContentResponse.model_validate(
    {"promptFeedback": {"blockReason": "SAFETY"}}
)
WHOLE: dict[str, Any] = {
    "anthropic": message("end_turn", TEXT),
    "chat": completion("stop", content="Hm."),
    "responses": response("completed"),
    "gemini": generated("STOP", {"text": "Hm."}),
}
PAIRS = [(wire, other) for wire in WHOLE for other in WHOLE if wire != other]


@pytest.fixture
def made() -> tuple[Crib, Weather]:
    return weather_crib()


@pytest.fixture
def wires(made: tuple[Crib, Weather]) -> dict[str, Any]:
    session = made[0].session()
    return {
        "anthropic": AnthropicWire(session, model="m", endpoint="https://api.anthropic.com"),
        "chat": ChatWire(session),
        "responses": ResponsesWire(session, model="m", endpoint="https://api.openai.com/v1"),
        "gemini": GeminiWire(session),
    }


def refusal(wire: Any, reply: Any) -> str:
    with pytest.raises(ReplyError) as raised:
        asyncio.run(wire.results(reply))
    return str(raised.value)


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_reply_without_calls_is_the_end(wires: dict[str, Any], name: str):
    assert asyncio.run(wires[name].results(WHOLE[name])) == []


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("wrong", [None, "Hm.", 7, {}, {"a": 1}, [], object()])
def test_what_is_no_reply_is_refused_with_what_was_expected(
    wires: dict[str, Any], name: str, wrong: Any
):
    told = refusal(wires[name], wrong)
    assert told.startswith("expected a")
    assert ("None" if wrong is None else type(wrong).__name__) in told


@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_the_reply_of_another_provider_is_refused(wires: dict[str, Any], name: str, other: str):
    told = refusal(wires[name], WHOLE[other])
    assert told.startswith("expected a")
    assert type(WHOLE[other]).__name__ in told


def test_a_call_that_nobody_has_waited_for_is_named(wires: dict[str, Any]):
    async def create() -> Message:
        return WHOLE["anthropic"]

    waiting = create()
    assert "`await` the SDK's call first" in refusal(wires["anthropic"], waiting)
    waiting.close()


@pytest.mark.parametrize(
    ("name", "reply", "told"),
    [
        ("anthropic", message(None, TEXT), "get_final_message"),
        ("anthropic", message("pause_turn", TEXT), "send the conversation once more"),
        ("chat", completion(None, content="Hm"), "get_final_completion"),
        ("chat", CHUNK, "get_final_completion"),
        ("responses", response("in_progress"), "get_final_response"),
        ("responses", response("queued"), "wait until"),
        ("responses", response("failed", error={"message": "no luck"}), "failed: no luck"),
        ("responses", response("cancelled"), "is cancelled"),
        ("gemini", generated(None, {"text": "Hm"}), "whole_reply"),
        ("gemini", generated("MALFORMED_FUNCTION_CALL"), "ask again"),
        ("gemini", BLOCKED, "the prompt was blocked (SAFETY)"),
    ],
)
def test_a_reply_that_is_not_final_is_not_the_end(
    wires: dict[str, Any], name: str, reply: Any, told: str
):
    assert told in refusal(wires[name], reply)


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("anthropic", message("max_tokens", USE)),
        ("chat", completion("length", tool_calls=[CALL])),
        ("responses", response("incomplete", ITEM)),
        ("gemini", generated("MAX_TOKENS", PART)),
    ],
)
def test_the_calls_of_a_reply_that_was_cut_off_are_not_made(
    made: tuple[Crib, Weather], wires: dict[str, Any], name: str, reply: Any
):
    assert "was cut off" in refusal(wires[name], reply)
    assert made[1].reached == []


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("anthropic", message("max_tokens", TEXT)),
        ("chat", completion("length", content="Hm")),
        ("responses", response("incomplete")),
        ("gemini", generated("MAX_TOKENS", {"text": "Hm"})),
    ],
)
def test_a_text_that_was_cut_off_has_nothing_to_call(wires: dict[str, Any], name: str, reply: Any):
    assert not asyncio.run(wires[name].results(reply))


def test_gemini_takes_a_reply_as_json_too(wires: dict[str, Any]):
    reply = {"candidates": [{"content": {"parts": [PART]}, "finishReason": "STOP"}]}
    [answer] = asyncio.run(wires["gemini"].results(reply))
    assert answer.parts[0].function_response.name == FORECAST
    assert "this is none" in refusal(wires["gemini"], {"candidates": [3]})


def test_no_chunk_makes_no_reply():
    with pytest.raises(ReplyError, match="no reason is given"):
        whole_reply([])
