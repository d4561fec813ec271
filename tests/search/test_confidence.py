import pytest

from tests.workshop import search_rules
from toolcrib.index import Arm
from toolcrib.model import Match, Ranking, Variant
from toolcrib.search.confidence import LOW, Evidence, chance, confidence_level, evidence
from toolcrib.search.fusion import VariantTrace
from toolcrib.search.second_look import SecondLook


def found_by(
    share: float, cosine: float | None = None, *, terms: int = 1, tied: int = 1
) -> VariantTrace:
    arms: dict[Arm, Ranking] = {
        "bm25": [*(Match(f"a{n}", share) for n in range(tied)), Match("b", 0.01)]
    }
    if cosine is not None:
        arms |= {"vector": [Match("c", cosine), Match("a", 0.0)]}
    variant = Variant("", terms=tuple(map(str, range(terms))))
    return VariantTrace(variant, arms, {}, search_rules(), None)


def found_nothing() -> VariantTrace:
    return VariantTrace(Variant(""), {"bm25": [], "vector": []}, {}, search_rules(), None)


def test_evidence_is_the_best_that_any_variant_says_of_any_tool():
    assert evidence([found_by(0.1), found_by(0.5, 0.2)])[:2] == (0.5, 0.2)
    assert evidence([found_by(0.1, 0.3), found_by(0.2, 0.1)])[:2] == (0.2, 0.3)
    assert evidence([found_by(0.1)])[:2] == (0.1, None)
    assert evidence([found_nothing()]) == (0.0, None, 0.0, 1, None, 0.0)
    assert evidence([]) == (0.0, None, 0.0, 1, None, 0.0)


def test_the_lead_is_that_over_the_fifth():
    assert evidence([found_by(0.4, terms=3)])[:4] == (0.4, None, 0.4, 3)
    assert evidence([found_by(0.4, tied=4)]).lead == pytest.approx(0.39)
    assert evidence([found_by(0.4, tied=5)]).lead == 0


def test_the_more_of_the_query_is_met_the_surer():
    likely = [chance(Evidence(share, None), calibrated=False) for share in (0.2, 0.5, 0.9, 1.0)]
    assert likely == sorted(likely)
    assert chance(Evidence(0.0, None), calibrated=False) == LOW


def test_words_in_which_five_are_tied_say_little():
    """The claim fits the evidence: it takes a lead, and a question of some length, to be sure."""
    tied = evidence([found_by(0.5, terms=3, tied=5)])
    ahead = evidence([found_by(0.5, terms=3, tied=1)])
    assert confidence_level(chance(tied, calibrated=False)) == "low"
    assert confidence_level(chance(ahead, calibrated=False)) == "high"
    assert confidence_level(chance(ahead._replace(terms=1), calibrated=False)) == "medium"


def test_with_vectors_nearness_in_meaning_decides():
    likely = [chance(Evidence(0.1, cosine), calibrated=True) for cosine in (0.0, 0.3, 0.5, 0.9)]
    assert likely == sorted(likely)
    assert likely[0] < 0.1
    assert 0.9 < likely[-1] < 1
    assert chance(Evidence(0.9, 0.3), calibrated=True) == likely[1]


def test_evidence_has_the_best_second_look_and_its_lead():
    looks = {f"t{n}": score for n, score in enumerate((0.2, 0.7, 0.6, 0.5, 0.4))}
    found = evidence([found_by(0.1, 0.3)], SecondLook(looks))
    assert (found.look, found.look_lead) == (0.7, pytest.approx(0.5))
    assert evidence([found_by(0.1, 0.3)], SecondLook()).look is None


@pytest.mark.parametrize("number", ["look", "cosine", "look_lead"])
def test_with_a_second_look_each_of_its_numbers_makes_it_surer(number: str):
    middling = Evidence(0.5, 0.4, look=0.5, look_lead=0.1)
    likely = [
        chance(middling._replace(**{number: value}), calibrated=True) for value in (0.1, 0.4, 0.7)
    ]
    assert likely == sorted(set(likely))


def test_a_second_look_tells_what_the_cosine_cannot():
    """Five that answer the query alike say less than one that answers it best."""
    alike, best = (Evidence(0.1, 0.4, look=0.5, look_lead=lead) for lead in (0.0, 0.3))
    assert confidence_level(chance(alike, calibrated=True)) in ("low", "medium")
    assert confidence_level(chance(best, calibrated=True)) == "high"


def test_in_a_pool_of_a_few_there_is_no_lead_and_a_near_tool_still_fits():
    few = Evidence(0.5, 0.6, look=0.6)
    assert confidence_level(chance(few, calibrated=True)) in ("medium", "high")
    assert confidence_level(chance(few._replace(cosine=0.2), calibrated=True)) in ("low", "none")


def test_a_look_without_a_cosine_of_the_bundled_model_says_nothing():
    looked = Evidence(0.2, None, look=0.9, look_lead=0.5)
    assert chance(looked, calibrated=True) == chance(Evidence(0.2, None), calibrated=True)
    assert chance(looked._replace(cosine=0.9), calibrated=False) == chance(looked, calibrated=True)


def test_cosines_of_another_model_say_nothing():
    words = chance(Evidence(0.2, None), calibrated=True)
    assert chance(Evidence(0.2, 0.9), calibrated=False) == words


@pytest.mark.parametrize(
    ("likely", "word"),
    [(1.0, "high"), (0.9, "high"), (0.6, "medium"), (0.15, "low"), (0.14, "none"), (0.0, "none")],
)
def test_a_word_for_a_chance(likely: float, word: str):
    assert confidence_level(likely) == word
