"""The keys that a replica has by it: all of its tenant, so that it goes on without the database."""

from pathlib import Path
from typing import Any

import pytest

from tests.store.test_followed_decisions import AwayStore
from toolcrib.errors import StoreAway
from toolcrib.gateway.keys import Keys
from toolcrib.store import KeyFile
from toolcrib.store.recent_keys import RecentKeys


class Replica:
    """The keys as a replica has them, and as the operator writes them."""

    def __init__(self, folder: Path) -> None:
        file = KeyFile(folder / "keys.db")
        self.operator = Keys(file)
        self.remote: Any = AwayStore(file)

    def open(self, most: int = 100) -> RecentKeys:
        return RecentKeys(self.remote, most)


@pytest.fixture
def replica(tmp_path: Path) -> Replica:
    return Replica(tmp_path)


def test_a_key_that_was_never_shown_here_works_while_the_database_is_away(replica: Replica):
    shown, keys = replica.operator.add("laptop"), replica.open()
    keys.refresh()
    replica.remote.is_away = True
    assert Keys(keys).is_at_hand(shown)
    assert Keys(keys).good(shown)


def test_a_key_that_was_removed_works_no_longer_after_a_refresh(replica: Replica):
    shown, keys = replica.operator.add("laptop"), replica.open()
    keys.refresh()
    replica.operator.remove("laptop")
    keys.refresh()
    assert not Keys(keys).is_at_hand(shown)
    assert Keys(keys).good(shown) is None


def test_a_key_that_is_not_here_is_asked_for(replica: Replica):
    keys = replica.open()
    keys.refresh()
    shown = replica.operator.add("laptop")
    assert not Keys(keys).is_at_hand(shown)
    replica.remote.is_away = True
    with pytest.raises(StoreAway):
        Keys(keys).good(shown)
    replica.remote.is_away = False
    assert Keys(keys).good(shown)
    assert Keys(keys).is_at_hand(shown)


def test_a_key_of_another_tenant_is_asked_for_each_time(replica: Replica):
    """Nobody would hear that it was removed or rotated there."""
    shown = replica.operator.add("laptop")
    keys = RecentKeys(replica.remote, tenant="acme")
    assert Keys(keys).good(shown)
    assert not Keys(keys).is_at_hand(shown)


def test_they_are_bounded(replica: Replica):
    shown = [replica.operator.add(f"client-{number}") for number in range(5)]
    keys = replica.open(most=3)
    keys.refresh()
    assert sum(map(Keys(keys).is_at_hand, shown)) == 3
    keys.refresh()
    assert all(map(Keys(keys).good, shown))
    assert sum(map(Keys(keys).is_at_hand, shown)) == 3
