import pytest

from tests.gateway.clients import Workshop
from toolcrib.access import Scope
from toolcrib.crib import inventory_of
from toolcrib.gateway import server
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.gateway.server import GatewayServers


def test_a_principal_keeps_their_window_and_shares_it_with_nobody():
    every = GatewayServers(Workshop().crib)
    ann = every.of(Principal("ann"))
    assert every.of(Principal("ann")) is ann
    assert every.of(Principal("bob")) is not ann
    assert every.of(Principal("ann", Profile("work"))) is not ann
    narrower = Principal("ann", Profile(scope=Scope(allowed=frozenset())))
    assert every.of(narrower) is not ann
    every.close()


def test_there_are_not_too_many_and_none_that_is_gone_listens(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "MOST_SERVERS", 2)
    shop = Workshop()
    every = GatewayServers(shop.crib)
    ann = every.of(Principal("ann"))
    every.of(Principal("bob"))
    assert every.of(Principal("ann")) is ann
    every.of(Principal("eve"))
    assert every.of(Principal("ann")) is ann
    listening = inventory_of(shop.crib).pool.events._listeners["TOOLS_UPDATED"].values()
    assert len([each for each in listening if "GatewayServer" in str(each)]) == 2
    every.close()
    assert not [each for each in listening if "GatewayServer" in str(each)]
