from collections.abc import Mapping, Sequence

import pytest

from toolcrib.evaluate import compare
from toolcrib.evaluate.cases import EvalCase
from toolcrib.evaluate.comparison import outcome
from toolcrib.evaluate.evaluation import EvalFound, EvalResult
from toolcrib.evaluate.measures import score


def case(id: str, *relevant: str, **others: object) -> EvalCase:
    return EvalCase.model_validate({"id": id, "query": "?", "relevant": [*relevant], **others})


def result(ranked: Mapping[str, Sequence[str]]) -> EvalResult:
    found = {id: EvalFound(ids, ids, 0.5) for id, ids in ranked.items()}
    return EvalResult(found, score([]), {}, {})


def test_what_became_of_a_case_is_the_rank_of_each_need():
    two = case("q", "a", "z", equiv={"b": "z"})
    assert outcome(two, ["x", "b", "a"]).ranks == {"a": 3, "z": 2}
    assert outcome(two, ["a"]).ranks == {"a": 1, "z": None}
    assert outcome(two, ["a"]).gain == 0.5
    assert outcome(case("q", "a", "z", relevance="any"), ["x", "z"]).gain == 0.5


@pytest.mark.parametrize(("ranked", "gain"), [([], 1.0), (["a"], 0.0)])
def test_what_nothing_fits_is_best_left_empty(ranked: list[str], gain: float):
    assert outcome(case("q"), ranked).gain == gain


def test_the_cases_that_differ_come_with_the_worst_loss_first():
    cases = [case("same", "a"), case("up", "a"), case("down", "a"), case("lost", "a"), case("none")]
    before = result({"same": "ab", "up": "ba", "down": "ab", "lost": "a", "none": "a"})
    after = result({"same": "ac", "up": "ab", "down": "ba", "lost": "", "none": ""})
    changes = compare(cases, before, after)
    assert [each.case.id for each in changes] == ["lost", "down", "up", "none"]
    assert [each.better for each in changes] == [False, False, True, True]
