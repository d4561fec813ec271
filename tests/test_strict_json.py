import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.strict_json import (
    MOST_JSON_DEPTH,
    MOST_JSON_VALUES,
    NotJson,
    canonical_json,
    check_json_size,
    has_more_json_values,
    json_deeper_than,
    json_digest,
    parse_strictly,
    plain_json,
    read_json,
)


def test_the_order_of_keys_does_not_count_but_that_of_lists_does():
    assert canonical_json({"b": [1, 2], "a": {"d": 1, "c": 2}}) == '{"a":{"c":2,"d":1},"b":[1,2]}'
    assert json_digest({"a": 1, "b": 2}) == json_digest({"b": 2, "a": 1})
    assert json_digest([1, 2]) != json_digest([2, 1])


def test_no_two_values_share_a_text():
    assert json_digest({"a": "b|c"}) != json_digest({"a|b": "c"})
    assert json_digest(["1"]) != json_digest([1])
    assert json_digest("é") != json_digest("e\u0301")


def test_any_text_has_a_digest():
    assert json_digest("\ud800") != json_digest("\ud801")


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


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='",[{\\\\a'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='",[{\\\\a'), inner),
    max_leaves=12,
)


@given(ANY_JSON)
def test_no_value_is_overlooked(value):
    def count(one) -> int:
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        return 1 + sum(map(count, inner))

    assert has_more_json_values(json.dumps(value, ensure_ascii=False).encode(), count(value) - 1)


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
    assert read_json(canonical_json(value)) == value


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**63 - 2, max_value=2**63 + 2)
    | st.floats()
    | st.text(st.characters(codec=None)),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(st.characters(codec=None)) | st.integers(), inner)
        | st.tuples(inner)
    ),
    max_leaves=10,
)


@given(ANYTHING)
def test_a_copy_is_what_a_reader_of_the_text_would_have(value):
    try:
        expected = read_json(canonical_json(value))
    except (TypeError, ValueError):
        with pytest.raises(NotJson):
            plain_json(value)
        return
    assert repr(plain_json(value)) == repr(expected)


def test_a_copy_is_nobody_elses():
    inner = [1]
    copied = plain_json({"b": inner, "a": {}})
    inner.append(2)
    assert repr(copied) == "{'a': {}, 'b': [1]}"


@pytest.mark.parametrize(
    "wrap", [lambda each: {"a": each}, lambda each: [each]], ids=["objects", "lists"]
)
def test_a_copy_is_no_deeper_than_a_text_may_be(wrap):
    value: object = 1
    for _ in range(MOST_JSON_DEPTH):
        value = wrap(value)
    assert plain_json(value) == value
    with pytest.raises(NotJson, match="deep"):
        plain_json(wrap(value))


def test_halves_of_a_character_meet_in_a_text():
    assert plain_json("\ud83d\ude00") == "\U0001f600"


def test_many_wide_characters_are_bounded_by_their_bytes():
    with pytest.raises(NotJson, match="bytes"):
        plain_json("\u4e2d" * 1_000_000)


@given(st.dictionaries(st.text(), JSON))
def test_the_order_of_keys_makes_no_difference(value):
    turned = dict(reversed(value.items()))
    assert json_digest(turned) == json_digest(value)


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
