import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.client_config.jsonc import DEEPEST, parse_jsonc
from toolcrib.errors import ConfigError

plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    plain | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def value(text: str) -> Any:
    node = parse_jsonc(text)
    assert node
    return node.value


@given(values, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_json_is_read_as_python_reads_it(thing: object, indent: Any, ascii_only: bool):
    text = json.dumps(thing, indent=indent, ensure_ascii=ascii_only)
    assert value(text) == json.loads(text)


@given(st.text(alphabet='{}[]",:/*\\ \n1ab', max_size=40))
def test_any_text_is_read_or_refused_with_its_line(text: str):
    said = ""
    try:
        parse_jsonc(text)
    except ConfigError as error:
        said = str(error)
    assert not said or said.startswith("line ")


def test_comments_and_trailing_commas_are_read_over():
    text = '// first\n{ /* a */ "a": [1, 2,], // "b": 3\n "c": "// none /* at all */", }\n/* end */'
    assert value(text) == {"a": [1, 2], "c": "// none /* at all */"}


@pytest.mark.parametrize("text", ["", " \n", "// only a comment", "\ufeff"])
def test_nothing_is_nothing(text: str):
    assert parse_jsonc(text) is None


def test_spans_and_commas_are_where_they_are():
    text = '{"a" : 1 /* , */ , "b":{}}'
    node = parse_jsonc(text)
    assert node
    a, b = node.members
    assert text[a.start : a.node.end] == '"a" : 1'
    assert a.comma == text.index(", ", text.index("*/"))
    assert (text[b.node.start : b.node.end], b.comma) == ("{}", None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1 "b": 2}', "line 1: a comma or '}' is missing"),
        ('{\n"a" 1}', "line 2: a colon is missing after the key 'a'"),
        ('{"a": }', "line 1: a value is missing"),
        ("{a: 1}", "line 1: a text in double quotes"),
        ('{"a": "no end}', "line 1: a text in double quotes"),
        ('{"a": "\\x"}', "cannot be read"),
        ('{"a": 1}\n\n}', "line 3: there is something after the end"),
        ('{"a": 1,\n "a": 2}', "line 2: the key 'a' stands there twice"),
        ('{"a": ', "line 1: a value is missing"),
        ("[" * (DEEPEST + 2), "nested too deep"),
        ("{'a': 1}", "line 1: a text in double quotes"),
        ('{"a": 01}', "a comma"),
        ("1" * 5000, "a number cannot be read"),
        ("{,}", "line 1: a text in double quotes"),
    ],
)
def test_what_is_no_json_is_refused_with_the_line_and_the_reason(text: str, said: str):
    with pytest.raises(ConfigError, match=r"^line \d+: ") as raised:
        parse_jsonc(text)
    assert said in str(raised.value)
