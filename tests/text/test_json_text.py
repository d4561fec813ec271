import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text import has_more_json_values, json_deeper_than, parse_strictly


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', '{"a": {"b": 1, "b": 1}}', "NaN", "[-Infinity]", "{"]
)
def test_what_two_readers_could_read_differently_is_refused(text: str):
    with pytest.raises(ValueError, match=r"."):
        parse_strictly(text)


def test_everything_else_is_read():
    assert parse_strictly('{"a": [1, 2.5, null, true, "x"]}') == {"a": [1, 2.5, None, True, "x"]}


def test_depth_counts_lists_and_objects():
    assert not json_deeper_than({"a": [1]}, 2)
    assert json_deeper_than({"a": [[1]]}, 2)
    assert not json_deeper_than(1, 0)


@pytest.mark.parametrize(
    ("text", "values"),
    [("1", 1), ("[1]", 2), ("[1, 2, 3]", 4), ('{"a": 1, "b": [2]}', 4), ('",[{,[{"', 1)],
)
def test_values_are_counted_without_reading(text: str, values: int):
    assert not has_more_json_values(text.encode(), values)
    assert has_more_json_values(text.encode(), values - 1)


@pytest.mark.parametrize(
    "text", [b'"' + b'\\"' * 500_000, b'["' + b'\\"' * 500_000 + b'"]', b'"' * 999_999]
)
def test_quotes_are_gone_through_once(text: bytes):
    assert not has_more_json_values(text + b'"' + b"," * 100, 1_000)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='",[{\\\\a'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='",[{\\\\a'), inner),
    max_leaves=12,
)


@given(JSON)
def test_no_value_is_overlooked(value):
    def count(one) -> int:
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        return 1 + sum(map(count, inner))

    assert has_more_json_values(json.dumps(value, ensure_ascii=False).encode(), count(value) - 1)
