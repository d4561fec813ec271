import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text import (
    MOST_JSON_VALUES,
    NotJson,
    check_json_size,
    plain_json,
    read_json,
    strict_canonical_json,
    strict_json_digest,
)
from toolcrib.text.strict_json import MOST_JSON_DEPTH

VAST = "x" * 5_000_000
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON)
def test_what_is_json_stays_as_it_is(value):
    assert plain_json(value) == value
    assert read_json(strict_canonical_json(value)) == value


@given(st.dictionaries(st.text(), JSON))
def test_the_order_of_keys_makes_no_difference(value):
    turned = dict(reversed(value.items()))
    assert strict_json_digest(turned) == strict_json_digest(value)


@given(st.text())
def test_a_text_is_read_or_refused(text: str):
    try:
        value = read_json(text)
    except NotJson:
        return
    assert json.loads(text) == value


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', "NaN", "[Infinity]", "", "{", "{'a': 1}", "[" * 100_000, f'"{VAST}"'],
    ids=range(8),
)
def test_what_could_be_read_in_two_ways_is_refused(text: str):
    with pytest.raises(NotJson):
        read_json(text)


def test_what_is_too_deep_is_refused():
    fits = "[" * MOST_JSON_DEPTH + "]" * MOST_JSON_DEPTH
    assert read_json(fits)
    with pytest.raises(NotJson, match="flatter"):
        read_json(f"[{fits}]")


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), {"a": b""}, {(1, 2): 3}])
def test_what_is_no_json_is_refused(value):
    with pytest.raises(NotJson):
        plain_json(value)


def test_more_values_than_may_be_sent_are_not_even_read():
    fits = [0] * (MOST_JSON_VALUES - 1)
    assert plain_json(fits) == fits
    for many in (
        json.dumps([*fits, 0]),
        "[" + "0," * MOST_JSON_VALUES,
    ):  # the second is no JSON at all
        with pytest.raises(NotJson, match="send fewer"):
            read_json(many)
    with pytest.raises(NotJson, match="send fewer"):
        plain_json([*fits, 0])


def test_commas_in_a_text_are_no_values():
    text = ",[{" * MOST_JSON_VALUES
    assert plain_json({"text": text}) == {"text": text}


@pytest.mark.parametrize(
    "value", [[0] * 10, {"a": [0] * 9}, "x" * 101, {"x" * 101: 1}, ["x" * 60, "x" * 60]]
)
def test_a_bound_holds_for_values_and_characters(value):
    check_json_size(value)
    with pytest.raises(NotJson, match="send"):
        check_json_size(value, most_values=10, most_characters=100)


def test_what_contains_itself_has_an_end():
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(NotJson):
        plain_json(loop)
