from dataclasses import fields

from toolcrib.search import ArmWeights, SearchRules
from toolcrib.settings import Settings
from toolcrib.wiring import rules_of

CHANGED = {
    "limit": 1,
    "most": 2,
    "schemas": 4,
    "fusion": "rrf",
    "second_look": "off",
    "cut": "top_band",
    "cut_ratio": 11.0,
    "abstain": False,
}


def test_every_rule_is_a_setting():
    rules = rules_of(Settings.model_validate({"search": {**CHANGED, "weight_vector": 3.0}}))
    assert {field.name for field in fields(SearchRules)} == {*CHANGED, "arms"}
    assert {name: getattr(rules, name) for name in CHANGED} == CHANGED
    assert rules.arms == ArmWeights(vector=3.0)


def test_each_of_these_settings_differs_from_its_default():
    default = rules_of(Settings())
    assert not [name for name, value in CHANGED.items() if getattr(default, name) == value]
