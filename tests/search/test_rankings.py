from hypothesis import given
from hypothesis import strategies as st

from toolcrib.model import Match
from toolcrib.search.rankings import boosted

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
