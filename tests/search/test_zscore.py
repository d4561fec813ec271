from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.index import Arm
from toolcrib.model import Match, Ranking
from toolcrib.search.zscore import (
    FULL_SHARE,
    WeightedRanking,
    arm_contributions,
    fuse_zscores,
    weighted_rankings,
)

ARMS: dict[Arm, float] = {"like": 0.4, "bm25": 1.0, "vector": 1.2}


def ranking(**scores: float) -> Ranking:
    return [Match(id, score) for id, score in sorted(scores.items(), key=lambda each: -each[1])]


def fused(*pairs, bonus=(), depth=30):
    return fuse_zscores(
        [WeightedRanking("bm25", *pair) for pair in pairs], dict(bonus), depth=depth
    )


RANKINGS = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 1)).map(
    lambda scores: ranking(**scores)
)


def test_a_sure_ranking_counts_more_than_an_unsure_one():
    sure, unsure = ranking(a=0.9, b=0.2, c=0.1), ranking(b=0.52, a=0.51, c=0.1)
    assert [match.id for match in fused((1.0, sure), (1.0, unsure))] == ["a", "b", "c"]


def test_zscores_are_deviations_from_the_mean():
    assert dict(fused((2.0, ranking(a=0.6, b=0.2)))) == pytest.approx({"a": 2.0, "b": -2.0})


def test_what_a_full_ranking_lacks_may_be_as_good_as_its_last():
    full, other = ranking(a=0.9, b=0.5), ranking(c=0.5)
    least = dict(fused((1.0, full), (0.0, other), depth=2))
    assert least["c"] == pytest.approx(least["b"])
    none = dict(fused((1.0, full), (0.0, other), depth=3))
    assert none["c"] < none["b"]


def test_a_ranking_without_a_difference_adds_nothing():
    flat, other = ranking(a=0.5, b=0.5), ranking(b=0.3, a=0.1)
    assert fused((1.0, flat), (1.0, other)) == fused((1.0, other))


def test_a_bonus_is_added_even_to_what_no_ranking_has():
    assert fused((1.0, ranking(a=0.6, b=0.2)), bonus={"z": 9.0})[0].id == "z"


def test_nothing_gives_nothing():
    assert fused((1.0, [])) == []
    assert weighted_rankings([(1.0, {"bm25": []})], ARMS) == []


@given(st.lists(st.tuples(st.floats(0, 2), RANKINGS), max_size=3))
def test_the_best_come_first_and_each_once(pairs):
    found = fused(*pairs, depth=8)
    assert {match.id for match in found} == {match.id for _, each in pairs for match in each}
    assert len(found) == len({match.id for match in found})
    assert all((-a.score, a.id) < (-b.score, b.id) for a, b in pairwise(found))


def test_the_variants_of_an_arm_share_its_weight():
    one, other = ranking(a=0.5), ranking(b=0.5)
    said: list[tuple[float, dict[Arm, Ranking]]] = [
        (3.0, {"bm25": one, "vector": other}),
        (1.0, {"bm25": other}),
    ]
    assert weighted_rankings(said, ARMS) == [
        ("bm25", 0.75, one),
        ("bm25", 0.25, other),
        ("vector", 1.2, other),
    ]


def test_words_that_no_tool_has_are_hardly_heard():
    foreign, known = ranking(a=FULL_SHARE / 4), ranking(b=0.5)
    (alone,) = weighted_rankings([(1.0, {"bm25": foreign})], ARMS)
    assert alone.weight == pytest.approx(0.25)
    beside, told = weighted_rankings([(1.0, {"bm25": foreign}), (1.0, {"bm25": known})], ARMS)
    assert (beside.weight, told.weight) == pytest.approx((0.2, 0.8))


@given(st.lists(st.tuples(st.floats(0.1, 2), RANKINGS), max_size=4))
def test_the_contributions_sum_up_to_the_score(pairs: list[tuple[float, Ranking]]):
    some = [WeightedRanking("vector", *pair) for pair in pairs]
    for id, score in fuse_zscores(some, {"a": 3.0}, depth=30):
        parts = arm_contributions(id, some, {"a": 3.0}, depth=30)
        assert sum(parts.values()) == pytest.approx(score)
        assert parts["name"] == (3.0 if id == "a" else 0.0)


def test_what_is_no_candidate_has_no_contributions():
    assert (
        arm_contributions("z", [WeightedRanking("bm25", 1.0, ranking(a=0.5))], {}, depth=30) == {}
    )
