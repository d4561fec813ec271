"""Outcomes in the words that a model reads."""

from typing import Any

import pytest

from toolcrib.adapters.wire.outcome_text import Image, loaded_text, outcome_parts, outcome_text
from toolcrib.model import CallError, Outcome, Page
from toolcrib.session import revealed_in

PICTURE: Any = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
TEXT: Any = {"type": "text", "text": "a map"}


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome("sunny"), "sunny"),
        (Outcome([TEXT]), "a map"),
        (Outcome({"a": "é"}), '{"a": "é"}'),
        (Outcome(None, structured=[1]), "[1]"),
        (Outcome(None), "null"),
        (
            Outcome("long", handle="1", page=Page(1, 2, "1 KB of text")),
            (
                '[1 KB of text. Page 1 of 2. Read on: `tool_search` with read "result:1/2". '
                "Search in it, for words or a /pattern/: `tool_search` with read"
                ' "result:1/find/WORDS". Held for ten minutes.]\nlong'
            ),
        ),
    ],
)
def test_content_is_told_as_text(outcome: Outcome, text: str):
    assert outcome_text(outcome) == text
    assert outcome_parts(outcome) == text


def test_an_error_is_told_as_json():
    error = CallError("boom", "call", "It broke.")
    assert outcome_text(Outcome(error=error)).startswith('{"error": {"code": "boom"')


def test_images_stand_apart():
    assert outcome_parts(Outcome([TEXT, PICTURE])) == ["a map", Image("image/png", "AAAA")]


def test_the_note_of_a_page_stands_before_text_and_images():
    outcome = Outcome([TEXT, PICTURE], handle="1", page=Page(1, 2, "1 KB of text"))
    note, *rest = outcome_parts(outcome)
    assert str(note).startswith("[1 KB of text.")
    assert rest == ["a map", Image("image/png", "AAAA")]


def test_what_is_told_to_be_loaded_is_read_back():
    assert revealed_in(loaded_text(["a", "b"])) == ("a", "b")
