from toolcrib.model import Match
from toolcrib.search.rankings import interleave


def ranking(**scores):
    return [Match(id, score) for id, score in scores.items()]


def test_rankings_take_turns_and_each_id_comes_once():
    whole, one, two = ranking(a=0.9, b=0.8, c=0.7), ranking(b=0.6, d=0.5), ranking(e=0.4)
    ids = [match.id for match in interleave([whole, one, two])]
    assert ids == ["a", "b", "e", "d", "c"]


def test_a_score_is_the_best_that_any_gives_it():
    taken = interleave([ranking(a=0.3, b=0.2), ranking(c=0.9, a=0.8)])
    assert taken == ranking(a=0.8, c=0.9, b=0.2)


def test_nothing_gives_nothing():
    assert interleave([]) == interleave([[], []]) == []
