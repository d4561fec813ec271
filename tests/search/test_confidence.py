import pytest

from toolcrib.index.protocol import Arm
from toolcrib.model import Match, Ranking
from toolcrib.search.confidence import Evidence, chance, confidence, evidence


def said(share: float, cosine: float | None = None) -> dict[Arm, Ranking]:
    arms: dict[Arm, Ranking] = {"bm25": [Match("a", share), Match("b", 0.01)]}
    return arms if cosine is None else {**arms, "vector": [Match("c", cosine), Match("a", 0.0)]}


def test_evidence_is_the_best_that_any_variant_says_of_any_tool():
    assert evidence([said(0.1), said(0.5, 0.2)]) == (0.5, 0.2)
    assert evidence([said(0.1, 0.3), said(0.2, 0.1)]) == (0.2, 0.3)
    assert evidence([said(0.1)]) == (0.1, None)
    assert evidence([{"bm25": [], "vector": []}]) == (0.0, None)
    assert evidence([]) == (0.0, None)


def test_the_more_of_the_query_is_met_the_surer():
    likely = [chance(Evidence(share, None), cosines=False) for share in (0.0, 0.1, 0.3, 0.9)]
    assert likely == sorted(likely)
    assert likely[0] < 0.5 < likely[-1] < 1


def test_with_vectors_nearness_in_meaning_decides():
    likely = [chance(Evidence(0.1, cosine), cosines=True) for cosine in (0.0, 0.3, 0.5, 0.9)]
    assert likely == sorted(likely)
    assert likely[0] < 0.1
    assert 0.9 < likely[-1] < 1
    assert chance(Evidence(0.9, 0.3), cosines=True) == likely[1]


def test_cosines_of_another_model_say_nothing():
    words = chance(Evidence(0.2, None), cosines=True)
    assert chance(Evidence(0.2, 0.9), cosines=False) == words


@pytest.mark.parametrize(
    ("likely", "word"),
    [(1.0, "high"), (0.9, "high"), (0.6, "medium"), (0.15, "low"), (0.14, "none"), (0.0, "none")],
)
def test_a_word_for_a_chance(likely: float, word: str):
    assert confidence(likely) == word
