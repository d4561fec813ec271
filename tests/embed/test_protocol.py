import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.embed.protocol import LONGEST_TEXT, embeddable

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("read a file", "read a file"),
        ("读文件 😀\0", "读文件 😀\0"),
        ("", ""),
        ("a\ud83db", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("\ufeffbom", "\ufeffbom"),
        ("x" * (LONGEST_TEXT + 1), "x" * LONGEST_TEXT),
    ],
)
def test_text_is_cut_and_mended(text, expected):
    assert embeddable(text) == expected


@given(ANY_TEXT)
def test_what_is_readable_is_utf_8_and_stays(text):
    once = embeddable(text)
    assert embeddable(once.encode().decode()) == once
