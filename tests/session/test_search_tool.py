"""The search tool's bytes are the same for everyone; its arguments are read as they are meant."""

import pytest

from toolcrib.model import JsonObject
from toolcrib.session.search_tool import MOST_QUERIES, SEARCH_TOOL, Ask, read_ask
from toolcrib.text.tokens import Tokenizer, definition

CASES: list[tuple[JsonObject, Ask]] = [
    ({}, Ask(("",), None, frozenset())),
    ({"query": "a"}, Ask(("a",), None, frozenset())),
    ({"query": "a", "queries": ["b", "a", "c"]}, Ask(("a", "b", "c"), None, frozenset())),
    ({"queries": ["b"], "limit": 3.0}, Ask(("b",), 3, frozenset())),
    ({"read": "skill_a"}, Ask(("",), None, frozenset(), "skill_a")),
    ({"query": "", "kinds": ["skill"]}, Ask(("",), None, frozenset({"skill"}))),
]


@pytest.mark.parametrize(("arguments", "ask"), CASES)
def test_what_is_asked(arguments: JsonObject, ask: Ask):
    assert read_ask(arguments) == ask


def test_not_more_queries_than_one_call_takes():
    assert len(read_ask({"queries": [str(n) for n in range(50)]}).queries) == MOST_QUERIES


def test_it_teaches_every_form_and_costs_little():
    text = definition(SEARCH_TOOL)
    assert all(form in text for form in ("select:", "+slack", "/create", "queries"))
    assert Tokenizer().count(text) < 300
