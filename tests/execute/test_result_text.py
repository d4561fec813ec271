from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.execute.result_text import most_characters, result_text
from toolcrib.model import Json, Outcome

IMAGE: Any = {"type": "image", "mimeType": "image/png", "data": "AAAA"}


def text(said: str) -> Any:
    return {"type": "text", "text": said}


@pytest.mark.parametrize(
    ("content", "structured", "whole"),
    [
        ([text("a")], {"content": "a"}, "a"),
        ([text("a")], {"result": "a"}, "a"),
        ([text('{"x": [1]}')], {"x": [1]}, '{"x": [1]}'),
        ([text("1"), text("2")], {"result": [1, 2]}, "1\n2"),
        ([text("a"), text("b")], {"result": ["a", "b"]}, "a\nb"),
        ([text("two rows")], {"rows": [1]}, 'two rows\n{\n "rows": [\n  1\n ]\n}'),
        ([text("a")], {"content": "b"}, 'a\n{\n "content": "b"\n}'),
        ([], {"a": 1}, '{\n "a": 1\n}'),
        ([text("a")], None, "a"),
    ],
)
def test_what_is_said_twice_is_text_once(content: Json, structured: Json, whole: str):
    assert result_text(Outcome(content, structured, blocks=True)) == (whole, [])


def test_a_value_is_json_in_lines():
    assert result_text(Outcome({"a": "ü"})).text == '{\n "a": "ü"\n}'
    assert result_text(Outcome("a")).text == "a"
    assert result_text(Outcome(None)).text == ""
    assert result_text(Outcome([1])).text == "[\n 1\n]"


def test_the_text_of_a_resource_is_text_and_other_blocks_are_not():
    resource: Any = {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}
    blob: Any = {"type": "resource", "resource": {"uri": "file:///a", "blob": "AAAA"}}
    shown = result_text(Outcome([text("a"), IMAGE, resource, blob], blocks=True))
    assert shown == ("a\ninside", [IMAGE, blob])


STRUCTURED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.lists(st.text()), STRUCTURED)
def test_a_text_is_never_longer_than_it_is_said_to_be(texts: list[str], structured: Any):
    outcome = Outcome([text(each) for each in texts], structured, blocks=True)
    assert len(result_text(outcome).text) <= most_characters(outcome, 1_000_000)
    assert len(result_text(Outcome(structured)).text) <= most_characters(Outcome(structured), 10)


def test_what_is_too_long_is_not_measured_to_its_end():
    assert most_characters(Outcome([text("a")], ["x" * 100] * 100, blocks=True), 1_000) < 2_000


@pytest.mark.parametrize("structured", ["\1" * 100, {"\1" * 100: 1}, [["a"] * 50] * 9])
def test_escapes_and_depth_count(structured: Any):
    outcome = Outcome(None, structured)
    assert len(result_text(outcome).text) <= most_characters(outcome, 1_000_000)
