"""Decisions of a shared store while it is away: shown as they were, and not acted on in doubt."""

from pathlib import Path
from typing import Any

import pytest

from toolcrib.errors import StoreAway
from toolcrib.store.decision_rows import Decision
from toolcrib.store.decisions import Decisions
from toolcrib.store.followed_decisions import FollowedDecisions, Freshness

KEY = b"k" * 32
SOURCE = "mcp:shop#1"


class AwayStore:
    """A store that answers nothing while it is away."""

    def __init__(self, store: object) -> None:
        self._store = store
        self.is_away = False

    def __getattr__(self, name: str) -> Any:
        if self.is_away:
            raise StoreAway("the database cannot be reached")
        return getattr(self._store, name)


class Followed:
    """Decisions as a replica has them, and the file that they are in."""

    def __init__(self, folder: Path) -> None:
        self.file = Decisions(folder / "decisions.db", KEY)
        self.remote: Any = AwayStore(self.file)
        freshness = Freshness(15.0)
        freshness.confirm(freshness.now())
        self.store = FollowedDecisions(lambda: self.remote, freshness, {})

    def pins(self) -> dict[str, str]:
        found = self.store.of(SOURCE).items()
        return {name: each.approved.pin for name, each in found if each.approved}


def approval(pin: str) -> Decision:
    return Decision(SOURCE, "a", "approved", pin, "operator", 5.0, "{}")


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    followed = Followed(tmp_path)
    followed.file.trust(SOURCE, {"a": ("old", "{}")})
    assert followed.pins() == {"a": "old"}
    return followed


def test_a_change_that_cannot_be_read_hides_nothing_and_lets_no_call_through(followed: Followed):
    followed.file.approve(approval("new"))
    followed.remote.is_away = True
    followed.store.changed()
    assert followed.pins() == {"a": "old"}
    assert followed.store.is_behind
    with pytest.raises(StoreAway, match="no call is made"):
        followed.store.check_current()


def test_once_it_is_read_calls_go_on(followed: Followed):
    followed.file.approve(approval("new"))
    followed.remote.is_away = True
    followed.store.changed()
    followed.pins()
    followed.remote.is_away = False
    followed.store.changed()
    assert followed.pins() == {"a": "new"}
    assert not followed.store.is_behind
    followed.store.check_current()


def test_what_was_never_read_is_not_made_up(followed: Followed):
    followed.remote.is_away = True
    with pytest.raises(StoreAway):
        followed.store.of("mcp:other#1")
    assert not followed.store.is_behind
    followed.store.check_current()
