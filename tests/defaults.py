"""What the stages are given of the settings that nobody has changed."""

from dataclasses import replace

from toolcrib.execute import Rule, Rulebook
from toolcrib.session.policy import Deferral
from toolcrib.settings import Settings
from toolcrib.wiring import app_rules_of, deferral_of, policy_of, retention_of

SETTINGS = Settings()
POLICY = policy_of(SETTINGS)
RETENTION = retention_of(SETTINGS)
APP_RULES = app_rules_of(SETTINGS)
DEFERRAL: Deferral = deferral_of(SETTINGS, None, None)


def rulebook(*rules: Rule) -> Rulebook:
    """These rules before what holds without any."""
    return replace(POLICY.rulebook, rules=rules)
