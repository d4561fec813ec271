import asyncio
import time
from dataclasses import replace
from pathlib import Path
from threading import get_ident

import pytest

from tests.gateway.daemons import bare
from tests.gateway.key_names import named
from toolcrib.gateway import KeyTerms, keys_in
from toolcrib.gateway import credentials as module
from toolcrib.gateway.credentials import AccessDenied, Authenticator, ProfileForbidden
from toolcrib.gateway.keys import Keys
from toolcrib.store import KeyFile, StoredKey


class Gate:
    """An authenticator, and the operator's hand on its keys."""

    def __init__(self, folder: Path) -> None:
        self.now = time.time()
        store = KeyFile(folder / "keys.db")
        settings = bare(gateway={"profiles": {"small": {}}}).gateway
        self.keys = Keys(KeyFile(folder / "keys.db"), lambda: self.now)
        self.check = Authenticator(settings, Keys(store, lambda: self.now))


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)


def test_a_key_to_metrics_opens_no_profile(gate: Gate):
    shown = gate.keys.add("prometheus", KeyTerms(scopes=("metrics",)))
    assert gate.check.scraper(shown) == "prometheus"
    with pytest.raises(ProfileForbidden, match=r"it is good for: /metrics"):
        gate.check.keyed(shown, "default")


def test_a_key_opens_metrics_only_if_it_says_so(gate: Gate):
    shown = gate.keys.add("laptop")
    with pytest.raises(ProfileForbidden, match="--scope metrics"):
        gate.check.scraper(shown)


def test_a_scope_says_what_a_principal_may_do(gate: Gate):
    caller = gate.check.keyed(gate.keys.add("caller"))
    reader = gate.check.keyed(gate.keys.add("reader", KeyTerms(scopes=("search",))))
    assert caller.caller.may_call
    assert not reader.caller.may_call


def test_whose_key_was_removed_is_told_once(gate: Gate):
    principal = gate.check.keyed(gate.keys.add("laptop"))
    gate.check.keyed(gate.keys.add("phone"))
    assert gate.check.take_revoked() == frozenset()
    assert gate.check.is_good(principal.id)
    gate.keys.remove("laptop")
    assert not gate.check.is_good(principal.id)
    assert {*map(named, gate.check.take_revoked())} == {"key:laptop"}
    assert gate.check.take_revoked() == frozenset()


def test_a_key_of_the_same_name_is_another_one(gate: Gate):
    gate.check.keyed(gate.keys.add("laptop"))
    gate.keys.remove("laptop")
    gate.check.keyed(gate.keys.add("laptop"))
    assert {*map(named, gate.check.take_revoked())} == {"key:laptop"}


def test_a_key_that_expires_is_told_without_any_change(gate: Gate, monkeypatch: pytest.MonkeyPatch):
    shown = gate.keys.add("laptop", KeyTerms(expires_at=gate.now + 100))
    principal = gate.check.keyed(shown)
    assert gate.check.take_revoked() == frozenset()
    gate.now += 100
    monkeypatch.setattr(module.time, "time", lambda: gate.now)
    assert not gate.check.is_good(principal.id)
    assert {*map(named, gate.check.take_revoked())} == {"key:laptop"}
    with pytest.raises(AccessDenied, match="expired"):
        gate.check.keyed(shown)


def test_a_secret_whose_grace_ends_is_told_too(gate: Gate, monkeypatch: pytest.MonkeyPatch):
    gate.check.keyed(gate.keys.add("laptop"))
    new = gate.keys.rotate("laptop", grace_s=100)
    gate.check.keyed(new)
    assert gate.check.take_revoked() == frozenset()
    gate.now += 100
    monkeypatch.setattr(module.time, "time", lambda: gate.now)
    gate.check.keyed(new)
    assert {*map(named, gate.check.take_revoked())} == {"key:laptop"}
    gate.check.keyed(new)
    assert gate.check.take_revoked() == frozenset()


def test_keys_that_cannot_be_read_let_nobody_in(gate: Gate):
    shown = gate.keys.add("laptop")
    gate.check.keyed(shown)
    gate.check.close()
    with pytest.raises(AccessDenied, match="no key works"):
        gate.check.keyed(shown)
    assert {*map(named, gate.check.take_revoked())} == {"key:laptop"}
    assert gate.check.is_good("local")


def test_the_last_use_is_kept_now_and_then_and_at_the_end(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
):
    gate.check.keyed(gate.keys.add("laptop"))
    assert not gate.check.has_use_to_keep
    monkeypatch.setattr(module, "KEEP_USE_S", 0.0)
    assert gate.check.has_use_to_keep
    gate.check.keep_use()
    (kept,) = gate.keys.all()
    assert kept.used_at
    gate.check.scraper(gate.keys.add("prometheus", KeyTerms(scopes=("metrics",))))
    gate.check.close()
    assert all(each.used_at for each in gate.keys.all())


def test_a_key_is_its_tenants(tmp_path: Path):
    store = KeyFile(tmp_path / "keys.db")
    keys = Keys(store)
    shown = keys.add("laptop")
    (key,) = keys.all()
    store.replace([replace(key, tenant="acme")])
    principal = Authenticator(bare().gateway, keys_in(tmp_path)).keyed(shown)
    assert (named(principal.id), principal.tenant) == ("key:acme/laptop", "acme")


def test_a_key_that_is_not_at_hand_is_looked_up_beside_the_event_loop(gate: Gate, tmp_path: Path):
    threads: list[int] = []

    class FarKeys(KeyFile):
        def is_at_hand(self, id: str) -> bool:  # noqa: ARG002
            return False

        def find(self, id: str) -> StoredKey | None:
            threads.append(get_ident())
            return super().find(id)

    check = Authenticator(bare().gateway, Keys(FarKeys(tmp_path / "keys.db")))
    shown = gate.keys.add("laptop")
    assert named(asyncio.run(check.bearer(shown)).id) == "key:laptop"
    assert threads
    assert get_ident() not in threads


def test_a_holder_is_made_once_and_anew_when_their_key_is_good_for_something_else(gate: Gate):
    first = gate.keys.add("laptop", KeyTerms(rate=5))
    assert gate.check.keyed(first) is gate.check.keyed(first)
    before = gate.check.keyed(first)
    gate.keys.remove("laptop")
    second = gate.keys.add("laptop", KeyTerms(rate=7, scopes=("search",)))
    with pytest.raises(AccessDenied):
        gate.check.keyed(first)
    after = gate.check.keyed(second)
    assert (before.quotas[0].rate, before.may_call) == (5, True)
    assert (after.quotas[0].rate, after.may_call) == (7, False)


def test_a_key_that_is_made_again_under_the_same_name_is_somebody_else(gate: Gate):
    """So it has no tickets, sets, suspended programs and held results of the former holder."""
    former = gate.check.keyed(gate.keys.add("laptop"))
    again = gate.check.keyed(gate.keys.rotate("laptop"))
    assert again == former
    gate.keys.remove("laptop")
    other = gate.check.keyed(gate.keys.add("laptop"))
    assert other.id != former.id
    assert other.caller.id != former.caller.id
    assert {each.id.partition("#")[0] for each in (former, other)} == {"key:laptop"}
