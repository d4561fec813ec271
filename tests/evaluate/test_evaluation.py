from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workshop import ENGINES, READ_FILE, SEEN
from toolcrib.evaluate import EvalSuite, evaluate, open_search
from toolcrib.evaluate.cases import EvalCase, EvalTool
from toolcrib.search import Search
from toolcrib.settings import Settings

TOOLS = {
    f"id/{number}": EvalTool(id=f"id/{number}", name=each.name, description=each.description)
    for number, each in enumerate(each for each in SEEN if each.kind == "tool")
}
READ, WRITE, TIME = "id/0", "id/1", "id/6"
CASES = {
    case.id: case
    for case in (
        EvalCase(id="named", query="write_file", relevant=[WRITE], split="names"),
        EvalCase(id="asked", query="read a text file", relevant=[READ], split="needs"),
        EvalCase(id="told", query="zzz", relevant=[READ], split="needs", instruction="read a file"),
        EvalCase(id="nothing", query="bake a cake", relevant=[], split="needs"),
        EvalCase(id="among", query="read a file", relevant=[], split="needs", candidates=[TIME]),
    )
}
EVERY = list(CASES.values())
SUITE = EvalSuite(TOOLS, CASES, {})


@pytest.fixture(params=ENGINES)
def search(request: pytest.FixtureRequest) -> Iterator[Search]:
    with open_search(SUITE, Settings(index=request.param)) as search:
        yield search


def test_the_catalog_is_known_by_its_ids_and_searched_by_its_names(search: Search):
    assert list(search.entries) == list(TOOLS)
    assert search.entries[READ].bare == READ_FILE.name
    assert search.trace("read_file", depth=50).ranking[0].id == READ


def test_every_query_is_ranked_and_scored(search: Search):
    result = evaluate(search, EVERY, limit=10)
    assert list(result.ranked) == list(CASES)
    assert result.ranked["named"][0] == WRITE
    assert result.ranked["asked"][0] == READ
    assert (result.total.answerable, result.total.unanswerable) == (3, 2)
    assert result.total.recall_1 == pytest.approx(2 / 3)
    assert result.total.left_empty == 1


def test_rankings_are_not_cut(search: Search):
    assert len(evaluate(search, EVERY, limit=10).ranked["named"]) > 1


def test_rankings_have_the_limit(search: Search):
    assert len(evaluate(search, EVERY, limit=2).ranked["named"]) == 2


def test_each_split_has_its_scores(search: Search):
    splits = evaluate(search, EVERY, limit=10).splits
    assert list(splits) == ["names", "needs"]
    assert (splits["names"].answerable, splits["names"].recall_1) == (1, 1)
    assert (splits["needs"].answerable, splits["needs"].recall_1) == (2, 0.5)


def test_another_text_of_the_cases_may_be_asked(search: Search):
    cases = [CASES["told"]]
    assert evaluate(search, cases, limit=10).total.recall_10 == 0
    by_instruction = evaluate(search, cases, limit=10, text=lambda case: case.instruction)
    assert by_instruction.total.recall_10 == 1


def test_an_unanswerable_query_is_asked_among_its_candidates_alone(search: Search):
    found = evaluate(search, [CASES["among"]], limit=10)
    assert found.ranked["among"] == []
    answerable = EvalCase(id="q", query="read a file", relevant=[READ], candidates=[TIME])
    assert READ in evaluate(search, [answerable], limit=10).ranked["q"]


def test_nothing_is_kept(search: Search, home: Path):
    assert not list(home.rglob("*"))
