import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.tools.data import csv_to_json, format_json, query_json

DOCUMENT = '{"users": [{"name": "Ann", "a key.with dots": 1}, {"name": "Bo"}], "n": null}'
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("users[0].name", "Ann"),
        ("users[-1]", {"name": "Bo"}),
        ('users[0]["a key.with dots"]', 1),
        ("n", None),
        ("", json.loads(DOCUMENT)),
    ],
)
def test_a_path_leads_to_a_value(path, value):
    assert query_json(DOCUMENT, path) == value


def test_a_path_through_nested_lists():
    assert query_json("[[1, [2]]]", "[0][1][0]") == 2


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("usres", "no key 'usres' here; there is: users"),
        ("users[2]", "2 is not a position in this list; it has 2"),
        ("users.name", "'name' is not a position"),
        ("users[0].name.x", "'x' leads nowhere: the value here is \"Ann\""),
        ("users[", "is not a step of a path"),
        ("users..name", "is not a step of a path"),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_ends(path, message):
    with pytest.raises(ValueError, match=message):
        query_json(DOCUMENT, path)


@pytest.mark.parametrize("text", ['{"a": 1,\n}', "", "{'a': 1}", "[NaN]"])
def test_what_is_not_json_is_refused(text):
    with pytest.raises(ValueError, match="not JSON"):
        format_json(text)


def test_a_mistake_has_its_place():
    with pytest.raises(ValueError, match="line 2, column"):
        query_json('{"a":\n x}')


@settings(deadline=None)
@given(JSON, st.integers(0, 8), st.booleans())
def test_formatting_keeps_the_meaning(value, indent, sort_keys):
    text = json.dumps(value)
    assert json.loads(format_json(text, indent, sort_keys=sort_keys)) == value


def test_formatting_lays_out_or_packs():
    assert format_json('{"b":1,"a":"文"}', sort_keys=True) == '{\n  "a": "文",\n  "b": 1\n}'
    assert format_json('{ "a" : [1, 2] }', indent=0) == '{"a":[1,2]}'


def test_rows_become_objects():
    text = 'name,note\nAnn,"a, ""quoted""\nline"\n\nBo,007\n'
    assert csv_to_json(text) == [
        {"name": "Ann", "note": 'a, "quoted"\nline'},
        {"name": "Bo", "note": "007"},
    ]
    assert csv_to_json("a;b\n1;2", ";") == [{"a": "1", "b": "2"}]
    assert csv_to_json("") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b\n1,2\n1,2,3", "line 3 has 3 values, not 2"), ("a,a\n1,2", "two columns")],
)
def test_a_table_that_is_none_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        csv_to_json(text)
