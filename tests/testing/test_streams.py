"""A scripted model streams in the words of a provider: the provider's own SDK puts it together."""

from collections.abc import Generator
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

from toolcrib.adapters.gemini import whole_reply
from toolcrib.testing import CallTool, Say, ScriptedModel

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
SCRIPT = [[Say("I add."), CallTool("add", {"a": 1}), CallTool("add", {"a": 2})]]
USER: Any = {"role": "user", "content": "?"}


@pytest.fixture
def model() -> Generator[ScriptedModel]:
    with ScriptedModel(SCRIPT) as model:
        yield model


@pytest.fixture
def client(model: ScriptedModel) -> Generator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{model.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_chat(client: openai.OpenAI, model: ScriptedModel):
    tool: Any = {"type": "function", "function": {"name": "add", "parameters": SCHEMA}}
    with client.chat.completions.stream(model="m", messages=[USER], tools=[tool]) as stream:
        message = stream.get_final_completion().choices[0].message
    assert message.content == "I add."
    called = [each.function.arguments for each in message.tool_calls or ()]
    assert called == ['{"a": 1}', '{"a": 2}']
    assert model.is_over


def test_responses(client: openai.OpenAI):
    tool: Any = {"type": "function", "name": "add", "parameters": SCHEMA}
    with client.responses.stream(model="m", input="?", tools=[tool]) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert final.output_text == "I add."
    called = [item.arguments for item in final.output if item.type == "function_call"]
    assert called == ['{"a": 1}', '{"a": 2}']


def test_messages(model: ScriptedModel):
    tool: Any = {"name": "add", "input_schema": SCHEMA}
    asked: Any = {"model": "m", "max_tokens": 9, "messages": [USER], "tools": [tool]}
    made = anthropic.Anthropic(base_url=model.url, api_key="none", max_retries=0)
    with made as client, client.messages.stream(**asked) as stream:
        final = stream.get_final_message()
    assert final.stop_reason == "tool_use"
    said = [block.text for block in final.content if block.type == "text"]
    called = [block.input for block in final.content if block.type == "tool_use"]
    assert (said, called) == (["I add."], [{"a": 1}, {"a": 2}])


def test_gemini(model: ScriptedModel):
    declared = types.FunctionDeclaration(name="add", parameters_json_schema=SCHEMA)
    tools: Any = [types.Tool(function_declarations=[declared])]
    options = types.HttpOptions(base_url=model.url)
    config = types.GenerateContentConfig(tools=tools)
    with genai.Client(api_key="none", http_options=options) as client:
        asked = client.models.generate_content_stream(model="m", contents="?", config=config)
        chunks = list(asked)
    assert [chunk.text for chunk in chunks if chunk.text] == ["I add."]
    assert not any(chunk.candidates[0].finish_reason for chunk in chunks[:-1] if chunk.candidates)
    whole = whole_reply(chunks)
    assert [call.args for call in whole.function_calls or ()] == [{"a": 1}, {"a": 2}]
    assert model.is_over


def test_a_refusal_is_no_stream(client: openai.OpenAI, model: ScriptedModel):
    with pytest.raises(openai.BadRequestError, match="cannot call 'add'"):
        client.responses.create(model="m", input="?", stream=True)
    assert not model.is_over
