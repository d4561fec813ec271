import pytest

from toolcrib.sources.mcp.sanitize import TooLarge, bounded_json, without_surrogates


def test_json_stays_as_it_is():
    value = {"a": [1, 2.5, None, True, "x"], "b": {"c": {}}}
    assert bounded_json(value) == value


def test_what_is_no_json_is_replaced():
    odd = {"a\ud800": float("nan"), "b": [float("inf"), "\udfff"]}
    assert bounded_json(odd) == {"a?": None, "b": [None, "?"]}


def test_depth_and_size_are_bounded():
    deep = []
    for _ in range(40):
        deep = [deep]
    with pytest.raises(TooLarge, match="deeper"):
        bounded_json(deep)
    with pytest.raises(TooLarge, match="larger"):
        bounded_json(["x" * 70_000])


def test_text_is_cut_and_cleaned():
    assert without_surrogates("ab\ud800cd", 3) == "ab?"
