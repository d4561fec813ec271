from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.model import Match, Ranking
from toolcrib.search.rrf import rrf_arms, rrf_variants


def ranked(ids: str) -> Ranking:
    """These ids in this order; the scores of an arm mean nothing to the fusion."""
    return [Match(id, 100.0 - place) for place, id in enumerate(ids)]


RANKINGS = st.lists(
    st.permutations("abcdefgh").flatmap(
        lambda ids: st.integers(0, 8).map(lambda length: ranked("".join(ids[:length])))
    ),
    max_size=4,
)


def test_arms_add_up_by_rank_and_bonus():
    fused = rrf_arms([ranked("ab"), ranked("bc")], {"c": 0.01})
    assert [match.id for match in fused] == ["b", "c", "a"]
    assert [match.score for match in fused] == pytest.approx(
        [1 / 62 + 1 / 61, 0.01 + 1 / 62, 1 / 61]
    )


def test_variants_add_up_by_weight_and_rank():
    fused = rrf_variants([(0.7, ranked("ab")), (1.0, ranked("b"))])
    assert [match.id for match in fused] == ["b", "a"]
    assert [match.score for match in fused] == pytest.approx([0.7 / 62 + 1.0 / 61, 0.7 / 61])


def test_a_bonus_alone_is_enough_to_be_ranked():
    assert rrf_arms([], {"a": 1.0, "b": 0.5}) == [("a", 1.0), ("b", 0.5)]


def test_ties_are_in_the_order_of_ids():
    assert [match.id for match in rrf_arms([ranked("b"), ranked("a")], {})] == ["a", "b"]
    assert [match.id for match in rrf_variants([(1, ranked("ba")), (1, ranked("ab"))])] == [
        "a",
        "b",
    ]


def test_nothing_fused_is_nothing():
    assert not rrf_arms([[], []], {})
    assert not rrf_variants([(1.0, [])])


def test_the_bonus_that_is_handed_in_stays_as_it_is():
    bonus = {"a": 1.0}
    rrf_arms([ranked("ab")], bonus)
    assert bonus == {"a": 1.0}


@given(RANKINGS, st.randoms())
def test_the_order_of_the_arms_does_not_matter(rankings: list[Ranking], chance: Random):
    shuffled = chance.sample(rankings, len(rankings))
    assert dict(rrf_arms(shuffled, {})) == pytest.approx(dict(rrf_arms(rankings, {})))


@given(RANKINGS, st.lists(st.floats(0.01, 9), min_size=4, max_size=4), st.randoms())
def test_the_order_of_the_variants_does_not_matter(
    rankings: list[Ranking], weights: list[float], chance: Random
):
    pairs = list(zip(weights, rankings, strict=False))
    shuffled = chance.sample(pairs, len(pairs))
    assert dict(rrf_variants(shuffled)) == pytest.approx(dict(rrf_variants(pairs)))


@given(RANKINGS)
def test_everything_that_an_arm_knows_is_ranked_once_best_first(rankings: list[Ranking]):
    fused = rrf_arms(rankings, {})
    ids = [match.id for match in fused]
    assert sorted(ids) == sorted({match.id for ranking in rankings for match in ranking})
    assert all(above.score >= below.score for above, below in pairwise(fused))


@given(RANKINGS, st.permutations("abcdefgh"), st.integers(1, 7))
def test_one_place_up_in_one_arm_is_never_a_place_down_in_the_fusion(
    rankings: list[Ranking], ids: list[str], place: int
):
    climber = ids[place]
    climbed = [*ids[: place - 1], climber, ids[place - 1], *ids[place + 1 :]]

    def rank(last: list[str]) -> int:
        fused = rrf_arms([*rankings, ranked("".join(last))], {})
        return [match.id for match in fused].index(climber)

    assert rank(climbed) <= rank(ids)


@given(RANKINGS, st.sampled_from("abcdefgh"), st.floats(0, 2))
def test_a_bonus_never_costs_a_place(rankings: list[Ranking], id: str, bonus: float):
    def rank(bonus: float) -> int:
        return [match.id for match in rrf_arms(rankings, {id: bonus})].index(id)

    assert rank(bonus) <= rank(0.0)
