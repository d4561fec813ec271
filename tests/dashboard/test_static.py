"""The files that a browser gets as they are: small, and nothing in them runs a stranger's text."""

import gzip
import re

import pytest

from toolcrib.dashboard.headers import POLICY
from toolcrib.dashboard.server import KINDS, STATIC

FILES = sorted(STATIC.iterdir())
MOST_BYTES = 150_000
SINKS = ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(")


def test_all_of_them_are_served_and_small():
    assert {path.suffix for path in FILES} == set(KINDS)
    assert sum(len(gzip.compress(path.read_bytes())) for path in FILES) < MOST_BYTES


@pytest.mark.plan(95)
@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".js"])
def test_no_script_makes_code_or_html_of_a_text(path):
    text = path.read_text(encoding="utf-8")
    for sink in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "Function(",
    ):
        assert sink not in text
    assert text.count("createHTML(") <= 1  # our own page, as the server made it
    assert not re.search(r"https?://|localStorage|sessionStorage|document\.cookie", text)


@pytest.mark.plan(95)
def test_the_browser_is_told_to_run_no_other_script():
    rules = {name: rest for name, *rest in (each.split() for each in POLICY.split(";"))}
    assert rules["default-src"] == ["'none'"]
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == ["'self'"]
    assert rules["form-action"] == ["'self'"]
    assert rules["base-uri"] == rules["frame-ancestors"] == ["'none'"]
    assert rules["require-trusted-types-for"] == ["'script'"]
    assert rules["trusted-types"] == ["toolcrib"]
    assert "unsafe" not in POLICY
