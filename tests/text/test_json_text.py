import pytest

from toolcrib.text.json_text import deeper_than, read_strictly


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', '{"a": {"b": 1, "b": 1}}', "NaN", "[-Infinity]", "{"]
)
def test_what_two_readers_could_read_differently_is_refused(text: str):
    with pytest.raises(ValueError, match=r"."):
        read_strictly(text)


def test_everything_else_is_read():
    assert read_strictly('{"a": [1, 2.5, null, true, "x"]}') == {"a": [1, 2.5, None, True, "x"]}


def test_depth_counts_lists_and_objects():
    assert not deeper_than({"a": [1]}, 2)
    assert deeper_than({"a": [[1]]}, 2)
    assert not deeper_than(1, 0)
