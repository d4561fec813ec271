import base64
import json
import logging
import re
from html import escape
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text import REDACTED, Redactor

SECRET = 'p@ss/wörd "1" <+~>'


@pytest.mark.parametrize("before", [b"", b"a", b"ab", b"abc"])
@pytest.mark.parametrize("after", [b"", b"z", b"zz"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_hides_nothing_wherever_the_secret_begins(before, after, encode):
    text = encode(before + SECRET.encode() + after).decode()
    hidden = Redactor([SECRET]).text(f"see {text}!")
    assert REDACTED in hidden
    assert len(hidden) <= len("see !") + len(REDACTED) + 8


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        re.sub("%..", lambda found: found[0].lower(), quote(SECRET, safe="")),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        escape(SECRET),
    ],
)
def test_a_secret_is_hidden_in_the_usual_spellings(text):
    hidden = Redactor([SECRET]).text(f"a {text} b")
    assert hidden.startswith("a ***")
    assert hidden.endswith("*** b")
    assert len(hidden) <= len("a  b") + len(text)
    assert "wörd" not in hidden


def test_the_longest_goes_first_and_short_ones_stay():
    redactor = Redactor(["hunter2", "hunter22", "to"])
    assert redactor.text("token=hunter22 hunter2") == "token=*** ***"


def test_keys_and_numbers_are_looked_at_and_clean_values_are_the_same():
    redactor = Redactor(["s3cret-1", "12345678"])
    said = {"a s3cret-1": ["s3cret-1", {"b": 12345678, "c": None, "d": True}]}
    assert redactor.json(said) == {"a ***": ["***", {"b": REDACTED, "c": None, "d": True}]}
    clean = {"a": [1, "b"]}
    assert redactor.json(clean) is clean


def test_what_is_learned_is_hidden_from_then_on():
    redactor = Redactor()
    assert redactor.text("tok-12345") == "tok-12345"
    redactor.learn("tok-12345")
    assert redactor.text("tok-12345") == REDACTED


def test_loggers_say_no_secret_meanwhile(caplog):
    logger, redactor = logging.getLogger("somebody.elses"), Redactor(["s3cret-1"])
    with caplog.at_level(logging.DEBUG), redactor.over_logs("somebody.elses"):
        logger.info("sent %s", "s3cret-1")
        try:
            int("s3cret-1")
        except ValueError:
            logger.exception("failed")
    logger.warning("after s3cret-1")
    assert "sent ***" in caplog.text
    assert "literal for int() with base 10: '***'" in caplog.text
    assert caplog.text.count("s3cret-1") == 1


@given(st.text(min_size=6, max_size=40), st.text(max_size=10), st.text(max_size=10))
def test_no_secret_is_left_in_a_text(secret, before, after):
    cleaned = Redactor([secret]).text(before + secret + after)
    assert secret not in cleaned or secret in REDACTED * 10
