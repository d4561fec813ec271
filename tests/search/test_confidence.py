import pytest

from toolcrib.index.protocol import Arm
from toolcrib.model import Match, Ranking
from toolcrib.search.confidence import Evidence, chance, confidence, evidence


def said(share: float, cosine: float | None = None) -> dict[Arm, Ranking]:
    arms: dict[Arm, Ranking] = {"bm25": [Match("a", share), Match("b", 0.01)]}
    return arms if cosine is None else {**arms, "vector": [Match("a", cosine)]}


def test_evidence_is_what_the_best_variant_says():
    assert evidence([said(0.1), said(0.5, 0.2)], "a") == (0.5, 0.2)
    assert evidence([said(0.1)], "a") == (0.1, None)
    assert evidence([said(0.1, 0.3)], "z") == (0.0, 0.0)
    assert evidence([], "a") == (0.0, None)


def test_the_more_of_the_query_is_met_the_surer():
    likely = [chance(Evidence(share, None), cosines=False) for share in (0.0, 0.1, 0.3, 0.9)]
    assert likely == sorted(likely)
    assert likely[0] < 0.5 < likely[-1] < 1


def test_words_and_meaning_count_together():
    alone = chance(Evidence(0.1, 0.2), cosines=True)
    assert chance(Evidence(0.1, 0.6), cosines=True) > alone
    assert chance(Evidence(0.4, 0.2), cosines=True) > alone


def test_cosines_of_another_model_say_nothing():
    words = chance(Evidence(0.2, None), cosines=True)
    assert chance(Evidence(0.2, 0.9), cosines=False) == words


@pytest.mark.parametrize(
    ("likely", "word"),
    [(1.0, "high"), (0.9, "high"), (0.6, "medium"), (0.2, "low"), (0.19, "none"), (0.0, "none")],
)
def test_a_word_for_a_chance(likely: float, word: str):
    assert confidence(likely) == word
