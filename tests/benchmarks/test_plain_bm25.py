"""The second baseline: BM25 over one field, and the fusion of two rankings."""

from benchmarks.plain_bm25 import PlainBm25, rrf
from toolcrib.evaluate.cases import EvalTool


def tools(**descriptions: str) -> dict[str, EvalTool]:
    return {id: EvalTool(id=id, name=id, description=text) for id, text in descriptions.items()}


def test_rare_words_and_short_texts_count_more():
    index = PlainBm25(tools(a="red apple", b="red green apple pie with cream", c="red sky"))
    assert index.search("apple", 5) == ["a", "b"]
    assert index.search("red sky", 5)[0] == "c"


def test_words_are_stemmed_and_chinese_is_found_by_pairs():
    index = PlainBm25(tools(a="reads files", b="查询天气", c="sends mail"))
    assert index.search("reading a file", 5) == ["a"]
    assert index.search("请查询明天的天气", 5) == ["b"]


def test_no_match_is_no_answer():
    assert PlainBm25(tools(a="red")).search("blue ?!", 5) == []


def test_fusion_prefers_what_both_have():
    assert rrf([["a", "b"], ["c", "b"]]) == ["b", "a", "c"]
