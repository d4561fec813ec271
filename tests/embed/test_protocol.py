import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.embed.protocol import LONGEST_TEXT, embeddable, unit_rows

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


numbers = st.floats(allow_nan=False, allow_infinity=False).filter(bool)


def test_a_row_keeps_its_direction():
    rows = unit_rows([[3, 4], [0, -2]], count=2)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, -1]], rtol=1e-6)


@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=5))
def test_every_row_has_length_one_at_any_magnitude(rows):
    lengths = np.linalg.norm(unit_rows(rows, count=len(rows)), axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("rows", "cause"),
    [
        ([[1, 2]], "1 vectors came for 2 texts"),
        ([[1, 2], [3]], "lists of numbers of one length"),
        ([[1, 2], ["a", "b"]], "not lists of numbers"),
        ([[1, 2], [1, 10**400]], "not lists of numbers"),
        ([[1, 2], {"a": 1}], "not lists of numbers"),
        ([[1, 2], [3, float("nan")]], "not a finite number"),
        ([[1, 2], [3, float("inf")]], "not a finite number"),
        ([[1, 2], [3, None]], "not a finite number"),
        ([[], []], "not one list of numbers"),
        ([1, 2], "not one list of numbers"),
        ([[[1]], [[2]]], "not one list of numbers"),
        ([], "not one list of numbers"),
    ],
)
def test_anything_else_says_why(rows, cause):
    with pytest.raises(ValueError, match=cause):
        unit_rows(rows, count=2)


def test_another_size_than_asked_for_is_refused():
    with pytest.raises(ValueError, match="vectors of 2 numbers came instead of 3"):
        unit_rows([[1, 2]], count=1, dimensions=3)


def test_a_row_of_zeros_stays_one():
    assert unit_rows([[3, 4], [0, 0]], count=2).tolist() == [pytest.approx([0.6, 0.8]), [0, 0]]
