import pytest

from tests.gateway.fronts import Workshop
from toolcrib.gateway import windows
from toolcrib.gateway.guest import Guest, Profile
from toolcrib.gateway.windows import Windows
from toolcrib.search.filters import Scope


def test_a_guest_keeps_their_window_and_shares_it_with_nobody():
    every = Windows(Workshop().crib)
    ann = every.of(Guest("ann"))
    assert every.of(Guest("ann")) is ann
    assert every.of(Guest("bob")) is not ann
    assert every.of(Guest("ann", Profile("work"))) is not ann
    narrower = Guest("ann", Profile(scope=Scope(allowed=frozenset())))
    assert every.of(narrower) is not ann
    every.close()


def test_there_are_not_too_many_and_none_that_is_gone_listens(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(windows, "MOST_WINDOWS", 2)
    shop = Workshop()
    every = Windows(shop.crib)
    ann = every.of(Guest("ann"))
    every.of(Guest("bob"))
    assert every.of(Guest("ann")) is ann
    every.of(Guest("eve"))
    assert every.of(Guest("ann")) is ann
    listening = shop.crib.pool.events._listeners["TOOLS_UPDATED"]
    assert len([each for each in listening if "Window" in str(each)]) == 2
    every.close()
    assert not [each for each in listening if "Window" in str(each)]
