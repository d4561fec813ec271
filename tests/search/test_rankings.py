import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.model import Match, Ranking
from toolcrib.search.rankings import autocut, boosted, interleave, top_band

RANKING = [Match("a", 1.0), Match("b", 0.9), Match("c", 0.5)]


def test_a_score_is_raised_by_its_share():
    assert boosted(RANKING, {"b": 0.2}) == [Match("b", 0.9 + 0.9 * 0.2), RANKING[0], RANKING[2]]


def test_what_is_not_in_the_ranking_stays_out():
    assert boosted(RANKING, {"d": 1.0}) == RANKING
    assert boosted([], {"a": 1.0}) == []


def test_ties_are_ordered_by_id():
    tied = [Match("a", 1.0), Match("b", 1.0)]
    assert boosted(tied, {"x": 0.1}) == tied


@given(st.dictionaries(st.sampled_from("abcd"), st.floats(0, 0.25)))
def test_the_same_are_ranked_and_none_by_more_than_its_share(shares: dict[str, float]):
    after = dict(boosted(RANKING, shares))
    assert after.keys() == dict(RANKING).keys()
    assert all(score <= after[id] <= score * 1.2500001 for id, score in RANKING)


def scored(**scores):
    return [Match(id, score) for id, score in scores.items()]


def test_the_best_of_each_come_first_and_each_id_once():
    whole, one, two = scored(a=0.9, b=0.8, c=0.7), scored(b=0.6, d=0.5), scored(e=0.4)
    ids = [match.id for match in interleave([whole, one, two], [1, 1, 1])]
    assert ids == ["a", "b", "e", "d", "c"]


def test_behind_the_best_what_several_rank_comes_first():
    rankings = [scored(a=0.9, x=0.8, b=0.7), scored(c=0.6, x=0.5, b=0.4), scored(b=0.5, y=0.4)]
    assert [match.id for match in interleave(rankings, [1, 1, 1])] == ["a", "b", "c", "x", "y"]
    heavier = [match.id for match in interleave(rankings, [1, 1, 3])]
    assert heavier == ["b", "a", "c", "y", "x"]


def test_a_score_is_the_best_that_any_gives_it():
    taken = interleave([scored(a=0.3, b=0.2), scored(c=0.9, a=0.8)], [1, 1])
    assert taken == scored(c=0.9, a=0.8, b=0.2)


def test_of_the_best_the_surest_leads_by_its_score_and_its_weight():
    rankings = [scored(a=0.5, b=0.4), scored(c=0.6)]
    assert [match.id for match in interleave(rankings, [1, 1])] == ["c", "a", "b"]
    assert [match.id for match in interleave(rankings, [2.5, 1])] == ["a", "c", "b"]


def test_nothing_gives_nothing():
    assert interleave([], []) == interleave([[], []], [1, 1]) == []


def ranking(*scores: float) -> Ranking:
    return [Match(str(place), score) for place, score in enumerate(scores)]


def scores(some: Ranking) -> list[float]:
    return [match.score for match in some]


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ([8.0, 4.0, 2.0, 1.0], 4),  # each is just twice the next
        ([8.0, 3.99], 1),
        ([8.0, 7.0, 3.0, 2.9, 1.0], 2),  # the first drop counts, not the deepest
        ([1.0, 0.0], 1),
        ([0.0, 0.0], 2),
        ([5.0], 1),
        ([], 0),
    ],
)
def test_autocut_ends_where_a_score_is_more_than_twice_the_next(given_: list[float], kept: int):
    assert scores(autocut(ranking(*given_), ratio=2.0)) == given_[:kept]


def test_the_ratio_of_autocut_is_a_setting():
    assert len(autocut(ranking(9.0, 3.0, 1.0), ratio=3.0)) == 3
    assert len(autocut(ranking(9.0, 2.9, 1.0), ratio=3.0)) == 1


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ([1.0, 0.6, 0.5, 0.49, 0.1], 3),
        ([1.0], 1),
        ([], 0),
        ([0.0, 0.0], 2),
    ],
)
def test_the_top_band_is_what_has_half_of_the_best(given_: list[float], kept: int):
    assert scores(top_band(ranking(*given_))) == given_[:kept]


SORTED = st.lists(st.floats(0, 10), max_size=20).map(lambda some: sorted(some, reverse=True))


@given(SORTED)
def test_a_cut_leaves_the_best_and_is_a_beginning(given_: list[float]):
    whole = ranking(*given_)
    for kept in (autocut(whole, ratio=2.0), top_band(whole)):
        assert list(kept) == list(whole[: len(kept)])
        assert bool(kept) == bool(whole)


@given(SORTED, st.floats(1.1, 9), st.floats(1.1, 9))
def test_a_larger_ratio_never_cuts_more(given_: list[float], one: float, other: float):
    small, large = sorted([one, other])
    whole = ranking(*given_)
    assert len(autocut(whole, ratio=small)) <= len(autocut(whole, ratio=large))
