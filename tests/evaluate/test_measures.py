from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.evaluate.cases import EvalCase
from toolcrib.evaluate.measures import counted, ndcg, recall, reciprocal_rank, score


def case(*relevant: str, **others: object) -> EvalCase:
    return EvalCase.model_validate({"id": "q", "query": "?", "relevant": [*relevant], **others})


def any_of(*relevant: str) -> EvalCase:
    return case(*relevant, relevance="any")


TEN = list("abcdefghij")


@pytest.mark.parametrize(("depth", "share"), [(1, 0.0), (2, 1 / 3), (5, 2 / 3), (10, 2 / 3)])
def test_recall_is_the_share_of_the_relevant_within_the_depth(depth: int, share: float):
    assert recall(case("b", "d", "z"), TEN, depth) == pytest.approx(share)


@pytest.mark.parametrize(("depth", "share"), [(1, 0.0), (2, 1.0), (10, 1.0)])
def test_where_any_is_enough_one_is_all(depth: int, share: float):
    assert recall(any_of("b", "d", "z"), TEN, depth) == share


@pytest.mark.parametrize(("relevant", "expected"), [("a", 1.0), ("d", 0.25), ("z", 0.0)])
def test_the_reciprocal_rank_is_that_of_the_first_relevant(relevant: str, expected: float):
    assert reciprocal_rank(case(relevant, "j"), TEN[:9]) == expected
    assert reciprocal_rank(case("z"), []) == 0


def test_ndcg_without_grades():
    # found at 2 and 4; best would be at 1, 2 and 3
    expected = (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3) + 1 / log2(4))
    assert expected == pytest.approx(0.4981893)
    assert ndcg(case("b", "d", "z"), TEN) == pytest.approx(expected)


def test_a_grade_of_zero_gains_nothing():
    assert ndcg(case("a", grades={"a": 0}), TEN) == 0.0
    assert ndcg(case("a", "b", grades={"a": 0}), ["b"]) == 1.0


def test_ndcg_with_grades():
    # 1 at rank 1 and 2 at rank 3; best would be 2 at 1 and 1 at 2
    graded = case("a", "c", grades={"a": 1, "c": 2})
    expected = (1 + 2 / log2(4)) / (2 + 1 / log2(3))
    assert expected == pytest.approx(0.7601875)
    assert ndcg(graded, TEN) == pytest.approx(expected)


def test_ndcg_where_any_is_enough_is_full_for_one_at_the_top():
    assert ndcg(any_of("a", "z"), TEN) == 1
    assert ndcg(any_of("b", "z"), TEN) == pytest.approx(1 / log2(3))
    assert ndcg(any_of("a", "b"), TEN) == 1  # never more


def test_ndcg_looks_at_ten():
    assert ndcg(case("z"), [*TEN, "z"]) == 0
    assert ndcg(case(*TEN, "z"), TEN) == 1  # more relevant than places


def test_what_is_said_to_be_relevant_twice_counts_once():
    twice = case("a", "a", "z")
    assert recall(twice, TEN, 5) == 0.5
    assert ndcg(twice, TEN) == ndcg(case("a", "z"), TEN)


def test_equivalents_count_as_what_they_are_equivalent_to_and_once():
    same = case("a", equiv={"a2": "a", "a3": "a"})
    assert counted(same, ["x", "a2", "a", "a3", "y"]) == ["x", "a", "y"]
    assert counted(case("a"), ["x", "a"]) == ["x", "a"]


def test_scores_are_means_over_the_answerable_and_the_rest_is_apart():
    found, half = case("a"), case("c", "z")
    nothing, something = case(), case()
    scores = score([(found, ["a", "b"]), (half, ["b", "c"]), (nothing, []), (something, ["a"])])
    assert (scores.answerable, scores.unanswerable) == (2, 2)
    assert (scores.recall_1, scores.recall_5, scores.recall_10) == (0.5, 0.75, 0.75)
    assert scores.mrr == 0.75
    assert scores.ndcg_10 == pytest.approx((1 + (1 / log2(3)) / (1 + 1 / log2(3))) / 2)
    assert scores.left_empty == 0.5


def test_scores_count_equivalents():
    same = case("a", equiv={"b": "a"})
    assert score([(same, ["b", "a"])]).recall_1 == 1


def test_where_there_was_no_query_of_a_sort_there_is_no_score():
    scores = score([(case(), [])])
    assert (scores.answerable, scores.recall_5, scores.ndcg_10, scores.mrr) == (0, None, None, None)
    assert scores.left_empty == 1
    assert score([(case("a"), ["a"])]).left_empty is None


IDS = st.sampled_from("abcdefghijklmnop")


@given(st.sets(IDS, min_size=1), st.lists(IDS, unique=True), st.booleans())
def test_every_measure_is_between_0_and_1_and_full_for_the_best_order(
    relevant: set[str], ranked: list[str], any_is_enough: bool
):
    asked = any_of(*relevant) if any_is_enough else case(*relevant)
    best = sorted(relevant)
    for measure in (ndcg, reciprocal_rank, lambda c, r: recall(c, r, 5)):
        assert 0 <= measure(asked, ranked) <= 1
    assert ndcg(asked, best) == pytest.approx(1)
    assert reciprocal_rank(asked, best) == 1
    assert recall(asked, best, len(best)) == 1


@given(st.sets(IDS, min_size=1), st.permutations("abcdefghijklmnop"), st.integers(1, 15))
def test_a_relevant_one_further_up_never_costs(relevant: set[str], ranked: list[str], place: int):
    asked = case(*relevant)
    above, below = ranked[place - 1], ranked[place]
    better = [*ranked[: place - 1], below, above, *ranked[place + 1 :]]
    if below in relevant and above not in relevant:
        assert ndcg(asked, better) >= ndcg(asked, ranked)
        assert reciprocal_rank(asked, better) >= reciprocal_rank(asked, ranked)
