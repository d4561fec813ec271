import pytest

from toolcrib.tools.compare import MAX_LINES, compare_text


def test_equal_texts_have_no_difference():
    assert compare_text("a\nb", "a\nb") == ""


def test_differences_are_a_unified_diff():
    assert compare_text("a\nb\nc", "a\nx\nc", context=0).splitlines() == [
        "--- before",
        "+++ after",
        "@@ -2 +2 @@",
        "-b",
        "+x",
    ]


def test_texts_that_are_too_long_are_refused():
    with pytest.raises(ValueError, match="compare parts"):
        compare_text("a\n" * (MAX_LINES + 1), "")
