import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text import BadPattern, compile_pattern
from toolcrib.text.pattern import LONGEST_PATTERN, _unrolled_steps


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("read.*file", "READ_THE_FILE", True),
        ("^read", "can read", False),
        ("读取|写入", "写入文件", True),
        ("", "anything", True),
    ],
)
def test_a_pattern_is_found_anywhere_in_any_case(pattern: str, text: str, found: bool):
    assert compile_pattern(pattern)(text) is found


@pytest.mark.parametrize(
    "pattern", ["(?=look)", "(back)\\1", "[open", "(open", "*", "a{9999999}", "((.*)*){40}{50}"]
)
def test_what_could_be_slow_or_is_broken_is_refused_with_a_reason(pattern: str):
    with pytest.raises(BadPattern, match=r"\w+"):
        compile_pattern(pattern)


def test_a_long_pattern_is_refused():
    compile_pattern("a" * LONGEST_PATTERN)
    with pytest.raises(BadPattern, match="200 is the most"):
        compile_pattern("a" * (LONGEST_PATTERN + 1))


@pytest.mark.plan(28)
@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*$", "(.*a){12}$", "^(([a-z])+.)+[A-Z]([a-z])+$"]
)
def test_the_patterns_that_hang_other_engines_end(pattern: str):
    """A backtracking engine needs longer than the universe has for any of these."""
    compile_pattern(pattern)("a" * 20_000 + "!")


@given(st.text(st.characters(codec=None), max_size=40), st.text(max_size=40))
def test_any_pattern_works_or_is_refused(pattern: str, text: str):
    try:
        matches = compile_pattern(pattern)
    except BadPattern as refused:
        assert str(refused)  # noqa: PT017 - either is fine; neither may be anything else
    else:
        assert matches(text) in (True, False)


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
