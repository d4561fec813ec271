import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text.pattern import _unrolled_steps


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("", 0),
        ("abc", 3),
        ("a*b+c?", 3),
        ("a{3}", 3),
        ("a{2,40}", 40),
        ("a{7,}", 7),
        ("a{0}", 1),
        ("(ab{2}){10}", 30),
        ("(a{10}){10}{10}", 1_000),
        ("x(y(z{2}){2}){2}", 11),
        ("[a{9}]", 1),
        (r"\{9}", 3),
        (r"[\]{9}]{2}", 2),
        (r"\d{4}-\d{2}-\d{2}", 10),
        ("((", 0),
        ("))a", 1),
    ],
)
def test_counted_repeats_are_written_out(pattern: str, count: int):
    assert _unrolled_steps(pattern) == count


@given(st.text("a(){}[]\\,9*", max_size=60))
def test_any_text_has_a_count(pattern: str):
    assert _unrolled_steps(pattern) >= 0
