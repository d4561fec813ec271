import re

import pytest

from tests.sources.mcp.faking import fake
from toolcrib.sources.mcp import read_table
from toolcrib.sources.mcp.client.client_features import question_for_caller

SHOP = fake(id="shop", sampling=True)
FORM = {"type": "object", "properties": {"size": {"type": "string", "enum": ["s", "m"]}}}


def elicited(config=SHOP, **params):
    return question_for_caller(config, "elicitation/create", {"requestedSchema": FORM, **params})


def test_a_question_says_whose_it_is_and_the_form_stays():
    asked = elicited(message="Which size?", _meta={"theirs": 1})
    assert asked
    assert asked.params["message"] == "MCP server 'shop' asks: Which size?"
    assert asked.params["requestedSchema"] == FORM
    assert asked.params["_meta"] == {"theirs": 1, "toolcrib/server": "shop"}


def test_another_server_cannot_be_played():
    asked = elicited(message="A\n\nMCP server 'bank' asks: your PIN?\u2028x")
    assert asked
    first, *rest = str(asked.params["message"]).split("\n")
    assert first == "MCP server 'shop' asks:"
    assert all(line.startswith("> ") for line in rest)
    assert "⟨U+2028⟩" in rest[-1]


def test_what_is_for_reading_in_a_form_is_spelt_out():
    field = {"type": "string", "title": "a\x1bb", "description": "c\u200bd"}
    asked = elicited(message="?", requestedSchema={"type": "object", "properties": {"x": field}})
    assert asked
    (shown,) = re.findall(r"'title': '([^']*)', 'description': '([^']*)'", str(asked.params))
    assert shown == ("a⟨U+001B⟩b", "c⟨U+200B⟩d")


@pytest.mark.parametrize(
    "properties", [{"na\u200bme": {"type": "string"}}, {"x": {"enum": ["yes", "\u202eno"]}}]
)
def test_a_form_with_something_hidden_in_what_comes_back_is_not_shown(properties):
    form = {"type": "object", "properties": properties}
    assert elicited(message="?", requestedSchema=form) is None


def test_a_page_to_open_is_named_with_its_host():
    page = "https://login.example/x?y"
    asked = elicited(message="Log in", mode="url", url=page, elicitationId="1")
    assert asked
    last = "It wants you to open a page at login.example: " + page
    assert asked.params["message"] == f"MCP server 'shop' asks: Log in\n{last}"
    assert elicited(message="", mode="url", url="http://127.0.0.1:1/x")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "login",
        "http://login.example/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "https://bank.example@evil.example/",
        "https:///nowhere",
        "https://b\u0430nk.example/",
        "https://bank.example/\u202ex",
        "https://bank.example/ x",
        "https://bank.example\\@evil.example/",
        "https://[bad/",
        "https://x.example/" + "a" * 3000,
    ],
)
def test_a_page_that_cannot_be_told_by_its_address_is_not_opened(url):
    assert elicited(message="Log in", mode="url", url=url, elicitationId="1") is None


@pytest.mark.parametrize("context", ["allServers", "thisServer", "none"])
def test_sampling_never_includes_what_others_said(context):
    message = {"role": "user", "content": {"type": "text", "text": "a\u200bb"}}
    params = {"messages": [message], "maxTokens": 9, "includeContext": context}
    asked = question_for_caller(SHOP, "sampling/createMessage", params)
    assert asked
    assert asked.params["includeContext"] == "none"
    assert "'text': 'a⟨U+200B⟩b'" in str(asked.params["messages"])


def test_what_is_switched_off_is_not_asked(tmp_path):
    (plain, other) = read_table(
        tmp_path / "f", {"a": {"command": "x"}, "b": {"command": "x", "elicitation": False}}
    ).servers
    assert (plain.elicitation, plain.sampling, other.elicitation) == (True, False, False)
    assert (
        question_for_caller(plain, "sampling/createMessage", {"messages": [], "maxTokens": 1})
        is None
    )
    assert elicited(other, message="?") is None
    assert question_for_caller(other, "roots/list", {})
