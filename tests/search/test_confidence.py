import pytest

from toolcrib.index.protocol import Arm
from toolcrib.model import Match, Ranking
from toolcrib.search.confidence import chance, confidence


def said(share: float, cosine: float | None = None) -> dict[Arm, Ranking]:
    arms: dict[Arm, Ranking] = {"bm25": [Match("a", share), Match("b", 0.01)]}
    return arms if cosine is None else {**arms, "vector": [Match("a", cosine)]}


def test_the_more_of_the_query_is_met_the_surer():
    chances = [chance([said(share)], "a", cosines=False) for share in (0.0, 0.1, 0.3, 0.9)]
    assert chances == sorted(chances)
    assert chances[0] < 0.5 < chances[-1] < 1


def test_words_and_meaning_count_together():
    alone = chance([said(0.1, 0.2)], "a", cosines=True)
    assert chance([said(0.1, 0.6)], "a", cosines=True) > alone
    assert chance([said(0.4, 0.2)], "a", cosines=True) > alone


def test_cosines_of_another_model_say_nothing():
    assert chance([said(0.2, 0.9)], "a", cosines=False) == chance([said(0.2)], "a", cosines=True)


def test_the_best_wording_counts():
    assert chance([said(0.1), said(0.5)], "a", cosines=False) == chance(
        [said(0.5)], "a", cosines=False
    )


def test_what_no_arm_knows_is_unsure():
    assert chance([said(0.9)], "z", cosines=False) < 0.5
    assert chance([], "z", cosines=True) < 0.5


@pytest.mark.parametrize(
    ("likely", "word"),
    [(1.0, "high"), (0.9, "high"), (0.6, "medium"), (0.2, "low"), (0.19, "none"), (0.0, "none")],
)
def test_a_word_for_a_chance(likely, word):
    assert confidence(likely) == word
