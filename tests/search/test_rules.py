from toolcrib.index.weights import FieldWeights
from toolcrib.search.rules import Rules
from toolcrib.settings import Settings
from toolcrib.wiring import rules_of, weights_of


def test_the_rules_of_the_default_settings_are_the_default_rules():
    assert rules_of(Settings()) == Rules()
    assert weights_of(Settings()) == FieldWeights()


def test_every_rule_is_a_setting():
    said = Settings.model_validate(
        {
            "search": {
                "limit": 1,
                "most": 2,
                "schemas": 3,
                "depth": 4,
                "k": 5,
                "exact_name_bonus": 6,
                "intent_boost": 7,
                "weight_as_written": 8,
                "weight_plain": 9,
                "weight_intent": 10,
                "cut": "top_band",
                "cut_ratio": 11,
                "band_share": 0.12,
            }
        }
    )
    rules = rules_of(said)
    assert (rules.limit, rules.most, rules.schemas, rules.depth, rules.k) == (1, 2, 3, 4, 5)
    assert (rules.exact_name_bonus, rules.intent_boost) == (6, 7)
    weights = rules.weights
    assert (weights.as_written, weights.plain, weights.intent) == (8, 9, 10)
    assert (rules.cut, rules.cut_ratio, rules.band_share) == ("top_band", 11, 0.12)
