import json

import pytest

from toolcrib.client_config import diff
from toolcrib.client_config.document import Syntax
from toolcrib.client_config.redaction import MASK, redacted


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("json", '{"a": {"env": {"MODE": "s3cret"}}}'),
        ("json", '{"a": {"headers": {"X": "s3cret"}}}'),
        ("json", '{"a": {"apiKey": "s3cret"}}'),
        ("json", '{"a": {"password": ["s3cret", "s3cret"]}}'),
        ("json", '{"a": {"args": ["--api-key", "s3cret"]}}'),
        ("json", '{"a": {"args": ["--token=s3cret"]}}'),
        ("json", '{"a": {"args": ["--header", "Authorization: Bearer s3cret"]}}'),
        ("json", '{"a": {"url": "https://me:s3cret@x/mcp?key=s3cret&b=s3cret"}}'),
        ("json", '{"a": {"env": {"A": "s3cret \\"quoted\\" s3cret"}}}'),
        ("json", '{"a": {"env": {"A": "s3cret$HOME", "B": "${X:-s3cret}"}}}'),
        ("json", '{"a": [{"apiKey": "s3cret", "x": "y"}]}'),
        ("json", '{"a": {"args": [ // don\'t\n "--token", "s3cret" // it\'s\n]}}'),
        ("json", '{"a": {} // "b": {"env": {"API_KEY": "s3cret"}}\n}'),
        ("json", "{ /* token=s3cret https://me:s3cret@x */ }"),
        ("json", '{"broken": "s3cret"'),
        ("toml", 'broken = "s3cret'),
        ("toml", 'a = 1 # api_key = "s3cret"'),
        ("toml", "[m.a]\nargs = [ # don't\n '--token', 's3cret' # it's\n]"),
        ("toml", 'm.a.env.MODE = "s3cret"'),
        ("toml", "[m.a.env]\nMODE = 's3cret'"),
        ("toml", '[m.a]\nenv = { MODE = "s3cret" }'),
        ("toml", '[m.a]\nhttp_headers = { "X-A" = "s3cret" }'),
        ("toml", '[m.a]\nargs = [\n  "--secret",\n  "s3cret",\n]'),
        ("toml", '[model]\napi_key = """\ns3cret"""'),
    ],
)
def test_secrets_are_masked(syntax: Syntax, text: str):
    shown = redacted(text, syntax)
    assert "s3cret" not in shown
    assert MASK in shown


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("json", '{"a": {"env": {"A": "${TOKEN}", "B": "{env:TOKEN}", "C": "$TOKEN"}}}'),
        ("json", '{"a": {"headers": {"Authorization": "Bearer ${TOKEN}"}}}'),
        ("json", '{"a": {"command": "npx", "args": ["-y", "x"], "url": "https://x/mcp"}}'),
        ("toml", '[m.a]\nenv_vars = ["TOKEN"]\nbearer_token_env_var = "TOKEN"'),
        ("toml", '[m.a]\ncommand = "npx"\nargs = ["-y"]'),
        ("toml", "[m.a] # documents, don't touch\ncommand = 'it' # it's fine"),
    ],
)
def test_what_is_no_secret_is_shown(syntax: Syntax, text: str):
    assert redacted(text, syntax) == text


def test_a_difference_in_secrets_alone_is_told_without_them():
    old, new = (json.dumps({"env": {"A": each}}) for each in ("one", "two"))
    assert diff(old, new, "x", "json") == ["x: differs in values that are not shown"]
    assert diff(old, old, "x", "json") == []
