import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.model import Match, Ranking
from toolcrib.search.rankings import autocut, top_band


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
