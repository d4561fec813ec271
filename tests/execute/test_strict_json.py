import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.execute.strict_json import MOST_DEPTH, NotJson, canonical, digest, plain, read_json

VAST = "x" * 5_000_000
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON)
def test_what_is_json_stays_as_it_is(value):
    assert plain(value) == value
    assert read_json(canonical(value)) == value


@given(st.dictionaries(st.text(), JSON))
def test_the_order_of_keys_makes_no_difference(value):
    turned = dict(reversed(value.items()))
    assert digest(turned) == digest(value)


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
    fits = "[" * MOST_DEPTH + "]" * MOST_DEPTH
    assert read_json(fits)
    with pytest.raises(NotJson, match="flatter"):
        read_json(f"[{fits}]")


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), {"a": b""}, {(1, 2): 3}])
def test_what_is_no_json_is_refused(value):
    with pytest.raises(NotJson):
        plain(value)
