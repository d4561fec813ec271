"""The scripted model refuses what OpenAI and Gemini would: a test that runs on it can fail."""

from typing import Any

import pytest

from toolcrib.testing import CallTool, Say, SearchTools
from toolcrib.testing.gemini import GeminiApi
from toolcrib.testing.openai_chat import ChatApi
from toolcrib.testing.openai_responses import ResponsesApi
from toolcrib.testing.provider import ApiRefusal

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


def function(name: str = "a", schema: Any = SCHEMA) -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": schema}


def chat(name: str = "a", schema: Any = SCHEMA) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": schema}}


CALLED = {"role": "assistant", "tool_calls": [{"id": "1"}]}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"tools": []}, "too short"),
        ({"tools": [chat(str(number)) for number in range(129)]}, "at most 128"),
        ({"tools": [chat(), chat()]}, "Duplicate"),
        ({"tools": [chat("a.b")]}, "Invalid tool name"),
        ({"tools": [chat(schema={})]}, "type 'object'"),
        ({"tools": [chat(schema={**SCHEMA, "anyOf": []})]}, "top level"),
        ({"messages": [CALLED]}, "No response for: 1"),
        ({"messages": [CALLED, {"role": "user"}]}, "No response for: 1"),
        ({"messages": [{"role": "tool", "tool_call_id": "1"}]}, "answers no tool call"),
    ],
)
def test_chat_refuses(body: Any, why: str):
    with pytest.raises(ApiRefusal, match=why):
        ChatApi().sees(body)


CALL = {"type": "function_call", "call_id": "1", "name": "a"}
OUTPUT = {"type": "function_call_output", "call_id": "1"}
LOADED = {
    "type": "tool_search_output",
    "call_id": "0",
    "tools": [{"type": "namespace", "name": "n", "tools": [function()]}],
}
ASKED = {"type": "tool_search_call", "call_id": "0", "execution": "client"}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"tools": [function(), function()]}, "Duplicate"),
        ({"tools": [function(schema=None)]}, "type 'object'"),
        ({"input": [OUTPUT]}, "No tool call found"),
        ({"input": [CALL]}, "No tool output found"),
        ({"input": [LOADED]}, "No tool call found"),
        ({"input": [ASKED]}, "No tool output found"),
        ({"input": [ASKED, LOADED, CALL, OUTPUT]}, "Missing namespace"),
        ({"previous_response_id": "x"}, "whole input"),
    ],
)
def test_responses_refuses(body: Any, why: str):
    with pytest.raises(ApiRefusal, match=why):
        ResponsesApi().sees(body)


def test_responses_takes_a_call_with_its_namespace():
    items = [ASKED, LOADED, {**CALL, "namespace": "n"}, OUTPUT]
    assert ResponsesApi().sees({"input": items}) == {"a": "n"}


def test_a_deferred_function_is_out_of_sight():
    deferred = {**function(), "defer_loading": True}
    space = {"type": "namespace", "name": "n", "tools": [deferred]}
    assert ResponsesApi().sees({"tools": [space, {"type": "tool_search"}]}) == {
        "tool_search": "hosted"
    }


def test_a_search_of_the_providers_own_finds_only_what_was_sent():
    body: Any = {"tools": [{"type": "tool_search"}]}
    with pytest.raises(ApiRefusal, match="cannot find b"):
        ResponsesApi().reply(body, [SearchTools("b", finds=["b"])], 1)


def declared(*functions: Any) -> dict[str, Any]:
    return {"tools": [{"functionDeclarations": list(functions)}]}


ASKING = {"role": "model", "parts": [{"functionCall": {"name": "a"}}]}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (declared({"name": "a"}, {"name": "a"}), "Duplicate"),
        (declared({"name": "1"}), "Invalid function name"),
        (declared({"name": "a", "parameters": {}, "parametersJsonSchema": {}}), "exclude"),
        (declared({"name": "a", "parametersJsonSchema": {"pattern": "x"}}), "Unknown name"),
        (
            declared({"name": "a", "parametersJsonSchema": {"properties": {"b": {"not": {}}}}}),
            "Unknown name",
        ),
        (declared(*({"name": f"a{number}"} for number in range(513))), "at most 512"),
        ({"cachedContent": "x", **declared({"name": "a"})}, "CachedContent"),
        ({"contents": [ASKING]}, "no function response"),
        ({"contents": [ASKING, {"role": "user", "parts": [{"text": "x"}]}]}, "number of function"),
    ],
)
def test_gemini_refuses(body: Any, why: str):
    with pytest.raises(ApiRefusal, match=why):
        GeminiApi().sees(body)


@pytest.mark.parametrize("wire", [ChatApi(), ResponsesApi(), GeminiApi()])
def test_a_tool_that_is_not_in_sight_cannot_be_called(wire: Any):
    with pytest.raises(ApiRefusal, match="cannot call 'b'"):
        wire.reply({}, [Say("Hm."), CallTool("b")], 1)
    with pytest.raises(ApiRefusal, match="cannot call 'tool_search'"):
        wire.reply({}, [SearchTools("b")], 1)
