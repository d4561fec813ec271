from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.model import Match
from toolcrib.search.stand_out import fuse_arms, fuse_variants


def ranking(**scores):
    return [Match(id, score) for id, score in sorted(scores.items(), key=lambda each: -each[1])]


RANKINGS = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 1)).map(
    lambda scores: ranking(**scores)
)


def test_an_arm_that_is_sure_counts_more_than_one_that_is_not():
    sure, unsure = ranking(a=0.9, b=0.2, c=0.1), ranking(b=0.52, a=0.51, c=0.1)
    fused = fuse_arms([(1.0, sure), (1.0, unsure)], {}, depth=30)
    assert [match.id for match in fused] == ["a", "b", "c"]


def test_lifts_are_deviations_from_the_mean():
    fused = fuse_arms([(2.0, ranking(a=0.6, b=0.2))], {}, depth=30)
    assert dict(fused) == pytest.approx({"a": 2.0, "b": -2.0})


def test_what_a_full_ranking_lacks_may_be_as_good_as_its_last():
    full, other = ranking(a=0.9, b=0.5), ranking(c=0.5)
    least = dict(fuse_arms([(1.0, full), (0.0, other)], {}, depth=2))
    assert least["c"] == pytest.approx(least["b"])
    none = dict(fuse_arms([(1.0, full), (0.0, other)], {}, depth=3))
    assert none["c"] < none["b"]


def test_an_arm_that_sees_no_difference_says_nothing():
    flat, other = ranking(a=0.5, b=0.5), ranking(b=0.3, a=0.1)
    assert fuse_arms([(1.0, flat), (1.0, other)], {}, depth=30) == fuse_arms(
        [(1.0, other)], {}, depth=30
    )


def test_a_bonus_is_added_even_to_what_no_arm_knows():
    fused = fuse_arms([(1.0, ranking(a=0.6, b=0.2))], {"z": 9.0}, depth=30)
    assert fused[0].id == "z"


def test_variants_are_weighed():
    fused = fuse_variants([(3.0, ranking(a=1.0, b=0.0)), (1.0, ranking(b=2.0, a=0.0))])
    assert dict(fused) == pytest.approx({"a": 0.75, "b": 0.5})


def test_what_a_variant_lacks_has_its_lowest_score():
    fused = fuse_variants([(1.0, ranking(a=1.0, b=0.5)), (1.0, ranking(c=0.2))])
    assert dict(fused)["c"] == pytest.approx((0.5 + 0.2) / 2)


def test_nothing_gives_nothing():
    assert fuse_arms([(1.0, [])], {}, depth=30) == []
    assert fuse_variants([(1.0, [])]) == []


@given(st.lists(st.tuples(st.floats(0, 2), RANKINGS), max_size=3))
def test_the_best_come_first_and_each_once(rankings):
    fused = fuse_arms(rankings, {}, depth=8)
    assert {match.id for match in fused} == {match.id for _, each in rankings for match in each}
    assert len(fused) == len({match.id for match in fused})
    assert all((-a.score, a.id) < (-b.score, b.id) for a, b in pairwise(fused))
