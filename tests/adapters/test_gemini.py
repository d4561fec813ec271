"""What only Gemini has: explicit caches, and a schema of its own."""

from functools import partial
from typing import Any

import pytest
from google.genai import types

from tests.adapters import talks
from tests.adapters.weather import FORECAST, weather_crib
from toolcrib import Crib
from toolcrib.adapters.gemini import GeminiWire
from toolcrib.adapters.gemini.schema import gemini_schema
from toolcrib.adapters.wire.outcome_text import loaded_text
from toolcrib.testing import CallTool, Say, SearchTools

OSLO = CallTool(FORECAST, {"city": "Oslo"})
talking = partial(talks.talking, talks.GeminiTalk)


@pytest.fixture(scope="module")
def crib() -> Crib:
    return weather_crib()[0]


def test_with_a_cache_the_proxy_is_spoken_and_no_tools_are_sent(crib: Crib):
    config = types.GenerateContentConfig(cached_content="cachedContents/1")
    with talking(
        crib, [SearchTools("weather forecast"), OSLO, Say("Sunny.")], config=config
    ) as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert all("tools" not in request.json for request in talk.model.requests)
        [tool] = talk.wire.cached_tools()
    assert [each.name for each in tool.function_declarations or []][-2:] == [
        "tool_search",
        "call_tool",
    ]


def test_what_else_is_asked_stays(crib: Crib):
    own = types.Tool(google_search=types.GoogleSearch())
    config = types.GenerateContentConfig(temperature=0.5, tools=[own])
    asked = GeminiWire(crib.session(), config=config).request([])["config"]
    assert asked.temperature == 0.5
    assert asked.tools is not None
    assert asked.tools[0] is own
    assert config.tools == [own]


def test_contents_may_be_plain_objects(crib: Crib):
    session = crib.session()
    answer: Any = {"name": "tool_search", "response": {"result": loaded_text([FORECAST])}}
    GeminiWire(session).see([{"role": "user", "parts": [{"function_response": answer}]}])
    assert [tool.name for tool in session.revealed_tools()] == [FORECAST]


@pytest.mark.parametrize(
    ("schema", "taken"),
    [
        ({}, {"type": "object", "properties": {}}),
        (
            {"type": "object", "$schema": "x", "properties": {"a": {"const": 1, "pattern": "b"}}},
            {"type": "object", "properties": {"a": {"enum": [1]}}},
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"$ref": "#/definitions/b", "title": "A"}},
                "definitions": {"b": {"type": "string", "minLength": 1}},
            },
            {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/b"}},
                "$defs": {"b": {"type": "string"}},
            },
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "https://example.com/b"}}},
            {"type": "object", "properties": {"a": {}}},
        ),
        (
            {"type": "object", "properties": {"a": {"allOf": [{"type": "string"}], "title": "A"}}},
            {"type": "object", "properties": {"a": {"type": "string", "title": "A"}}},
        ),
        (
            {"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}]},
            {"type": "object", "properties": {"a": {"type": "string"}}},
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"items": True, "additionalProperties": {"not": {}}}},
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"a": {"items": {}, "additionalProperties": {}}},
                "additionalProperties": False,
            },
        ),
        (
            {"type": "object", "properties": {"pattern": {"anyOf": [{"exclusiveMinimum": 1}]}}},
            {"type": "object", "properties": {"pattern": {"anyOf": [{}]}}},
        ),
    ],
)
def test_a_schema_is_said_in_the_words_that_gemini_takes(schema: Any, taken: Any):
    assert gemini_schema(schema) == taken
