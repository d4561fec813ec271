"""Who agrees to a change: `--yes`, a person at the terminal, or nobody."""

import pytest

from toolcrib.cli import consent
from toolcrib.cli.consent import Consent
from toolcrib.errors import ConfigError


@pytest.mark.parametrize("at_terminal", [True, False])
def test_where_nobody_can_be_asked_somebody_has_to_agree_before(
    monkeypatch: pytest.MonkeyPatch, at_terminal: bool
):
    monkeypatch.setattr(consent, "at_terminal", lambda: at_terminal)
    for dry_run, yes in ((True, False), (False, True)):
        Consent(dry_run, yes, as_json=True).refuse_silence()
    with pytest.raises(ConfigError, match="--dry-run"):
        Consent(dry_run=False, yes=False, as_json=True).refuse_silence()
    unsaid = Consent(dry_run=False, yes=False, as_json=False)
    if at_terminal:
        unsaid.refuse_silence()
    else:
        with pytest.raises(ConfigError, match="no terminal"):
            unsaid.refuse_silence()


def test_a_look_changes_nothing_and_a_yes_is_not_asked_for_again(monkeypatch: pytest.MonkeyPatch):
    asked: list[object] = []
    monkeypatch.setattr("typer.confirm", lambda *_, default: asked.append(default) or default)
    assert not Consent(dry_run=True, yes=True, as_json=False).agreed("?")
    assert Consent(dry_run=False, yes=True, as_json=False).agreed("?")
    assert not asked
    assert Consent(dry_run=False, yes=False, as_json=False, guided=True).agreed("?")
    assert not Consent(dry_run=False, yes=False, as_json=False).agreed("?")
    assert asked == [True, False]
