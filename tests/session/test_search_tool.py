"""The search tool's bytes are the same for everyone; its arguments are read as they are meant."""

import pytest

from toolcrib.model import JsonObject
from toolcrib.session import SEARCH_TOOL
from toolcrib.session.search_tool import MOST_QUERIES, SearchRequest, read_request
from toolcrib.text import tool_definition
from toolcrib.text.tokens import Tokenizer

CASES: list[tuple[JsonObject, SearchRequest]] = [
    ({}, SearchRequest(("",), None, frozenset())),
    ({"query": "a"}, SearchRequest(("a",), None, frozenset())),
    ({"query": "a", "queries": ["b", "a", "c"]}, SearchRequest(("a", "b", "c"), None, frozenset())),
    ({"queries": ["b"], "limit": 3.0}, SearchRequest(("b",), 3, frozenset())),
    ({"read": "skill_a"}, SearchRequest(("",), None, frozenset(), "skill_a")),
    ({"query": "", "kinds": ["skill"]}, SearchRequest(("",), None, frozenset({"skill"}))),
]


@pytest.mark.parametrize(("arguments", "ask"), CASES)
def test_what_is_asked(arguments: JsonObject, ask: SearchRequest):
    assert read_request(arguments) == ask


def test_not_more_queries_than_one_call_takes():
    assert len(read_request({"queries": [str(n) for n in range(50)]}).queries) == MOST_QUERIES


def test_it_teaches_every_form_and_costs_little():
    text = tool_definition(SEARCH_TOOL)
    assert all(form in text for form in ("select:", "+slack", "/create", "queries"))
    assert Tokenizer().count(text) < 300
