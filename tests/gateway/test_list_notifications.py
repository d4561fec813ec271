"""Clients hear that there are other resources, if they can see them."""

import asyncio
from collections.abc import Iterator

import pytest
from mcp import Client
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated

from tests.gateway.fake_servers import add_fake, crib_at
from tests.waiting import HANG_S
from toolcrib import Crib
from toolcrib.access import Scope
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.gateway.server import GatewayServer


@pytest.fixture
def crib(tmp_path) -> Iterator[Crib]:
    with crib_at(tmp_path) as crib:
        add_fake(crib, "a", "offers")
        yield crib


def test_a_connection_that_has_listed_hears_of_it_and_nobody_who_may_not_see_it(crib):
    async def test():
        told = asyncio.Queue()

        async def hear(message):
            told.put_nowait(message.method)

        async def overhear(message):
            overheard.append(message)

        overheard = []
        nothing = Principal("bob", Profile(scope=Scope(sources=frozenset())))
        hers, his = GatewayServer(crib, Principal("ann")), GatewayServer(crib, nothing)
        async with (
            Client(hers.mcp_server, mode="legacy", message_handler=hear) as ann,
            Client(his.mcp_server, mode="legacy", message_handler=overhear) as bob,
        ):
            assert ann.server_capabilities.model_dump()["resources"]["list_changed"]
            before = await ann.list_resources()
            await bob.list_resources()
            await crib.call("mcp_a_touch", {"uri": "fake://more"})
            method = await told.get()
            after = await ann.list_resources()
        hers.close()
        his.close()
        return method, len(after.resources) - len(before.resources), overheard

    method, more, overheard = asyncio.run(asyncio.wait_for(test(), HANG_S))
    assert overheard == []
    assert method == "notifications/resources/list_changed"
    assert more == 1


def test_a_stream_of_the_modern_era_hears_of_lists_and_of_resources(crib):
    uri = "toolcrib://a/fake://a"

    async def test():
        server = GatewayServer(crib, Principal("ann"))
        async with (
            Client(server.mcp_server, mode="auto") as client,
            client.listen(resources_list_changed=True, resource_subscriptions=[uri]) as events,
        ):
            await crib.call("mcp_a_touch", {"uri": "fake://a"})
            first = await anext(aiter(events))
            await crib.call("mcp_a_touch", {"uri": "fake://more"})
            second = await anext(aiter(events))
        server.close()
        return first, second

    first, second = asyncio.run(asyncio.wait_for(test(), HANG_S))
    assert first == ResourceUpdated(uri=uri)
    assert isinstance(second, ResourcesListChanged)
