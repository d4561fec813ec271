"""The search tool's bytes are the same for everyone; its arguments are read as they are meant."""

import pytest

from toolcrib.execute.schema_reader import properties_of
from toolcrib.gateway.fixed_tool_definitions import FIXED_TOOLS
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


def test_sessions_and_the_gateway_have_one_search_tool():
    """Each has sentences and parameters of its own; what they share is the same."""
    ours, theirs = SEARCH_TOOL, FIXED_TOOLS[SEARCH_TOOL.name]
    here, there = properties_of(ours.parameters), properties_of(theirs.parameters)
    assert here.keys() & there.keys() == {"queries", "limit", "kinds"}
    assert (here["limit"], here["kinds"]) == (there["limit"], there["kinds"])
    assert all("Write a query as verb" in each.description for each in (ours, theirs))
    assert (ours.permission_kind, ours.defer) == (theirs.permission_kind, theirs.defer)
