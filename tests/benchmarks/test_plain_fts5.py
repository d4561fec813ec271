"""The baseline is what it says: plain, but able to find Chinese."""

from collections.abc import Mapping

import pytest

from benchmarks.plain_fts5 import PlainFts5
from toolcrib.evaluate.cases import EvalTool


def tools(**descriptions: str) -> Mapping[str, EvalTool]:
    return {id: EvalTool(id=id, name=id, description=text) for id, text in descriptions.items()}


def test_any_word_of_the_query_is_enough_and_more_are_better():
    table = PlainFts5(tools(a="red apple", b="red green apple pie", c="blue sky"))
    assert table.search("green apple", 5) == ["b", "a"]


def test_there_are_no_stems():
    some = tools(a="reads files", b="draws maps", c="sends mail")
    assert PlainFts5(some).search("reading", 5) == []


def test_chinese_is_found_by_pairs_of_characters():
    table = PlainFts5(tools(a="读取文件内容", b="发送消息", c="查询天气"))
    assert table.search("请读取文件", 5) == ["a"]


def test_parameters_are_found_by_name_and_description_at_any_depth():
    schema = {
        "properties": {
            "spot": {"description": "where it is"},
            "list": {"items": {"properties": {"colour": {"description": "paint"}}}},
        }
    }
    one = EvalTool.model_validate({"id": "a", "name": "a", "parameters": schema})
    table = PlainFts5({"a": one, **tools(b="", c="", d="")})
    for word in ("spot", "where", "colour", "paint"):
        assert table.search(word, 5) == ["a"]


@pytest.mark.parametrize("text", ["", "?!", '"', "NEAR(", "a AND", "*"])
def test_no_query_is_an_error(text: str):
    PlainFts5(tools(a="near and far")).search(text, 5)


def test_a_tool_that_is_added_is_found():
    table = PlainFts5(tools(a="red", b="blue", c="white"))
    table.add(EvalTool(id="d", name="d", description="green"))
    assert table.search("green", 5) == ["d"]
