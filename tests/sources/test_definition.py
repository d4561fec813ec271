from dataclasses import replace

import pytest

from toolcrib.sources import Definition
from toolcrib.sources.definition import hidden_tricks, read_definition
from toolcrib.text import find_hidden

ONE = Definition({"name": "a", "icons": [{"src": "x"}]}, "Title", "Instructions", "hash")


@pytest.mark.parametrize("field", ["tool", "title", "instructions", "config_hash"])
def test_every_field_is_pinned(field):
    other = {"name": "a", "icons": []} if field == "tool" else "other"
    assert replace(ONE, **{field: other}).pin != ONE.pin


def test_what_is_moved_from_field_to_field_is_another():
    assert replace(ONE, title="", instructions="TitleInstructions").pin != ONE.pin


def test_the_order_of_keys_is_not_pinned():
    assert replace(ONE, tool={"icons": [{"src": "x"}], "name": "a"}).pin == ONE.pin


def test_a_definition_can_be_written_and_read():
    assert read_definition(ONE.written()) == ONE


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format":2,"tool":{}}', "null"])
def test_what_is_none_is_refused(text):
    with pytest.raises(ValueError, match=r"Expecting value|not a definition"):
        read_definition(text)


def test_what_is_hidden_anywhere_is_flagged():
    assert ONE.flags == ()
    assert replace(ONE, instructions="\u200b").flags == ("zero-width",)
    assert replace(ONE, tool={"a": [{"b\u202e": 1}]}).flags == ("bidi",)


@pytest.mark.parametrize("mark", ["\u200e", "\u200f", "\u061c"])
@pytest.mark.parametrize("letters", ["\u05d0\u05d1\u05d2 \u05d0", "\u0627\u0628\u062a \u0627"])
def test_what_is_hidden_in_one_text_is_not_excused_by_its_neighbour(mark, letters):
    """Beside such letters these marks are honest, but they stand in a text of their own."""
    alone = {finding.trick for finding in find_hidden(mark)}
    assert alone
    assert not find_hidden(letters + mark)
    for texts in ([letters, mark], [mark, letters]):
        assert set(hidden_tricks(*texts)) == alone
        assert set(hidden_tricks({"a": texts}, dict([texts]))) == alone


def test_too_many_blanks_of_one_text_are_found_among_others():
    for blanks in (" " * 200, "\n" * 40, "\t" * 200):
        assert (
            hidden_tricks("a", [f"x{blanks}y"], {"k": "v"})
            == hidden_tricks(f"x{blanks}y")
            == ("blank",)
        )
    assert hidden_tricks(*["line\n\n"] * 100) == ()
