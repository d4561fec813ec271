"""A gateway whose shared store is away says so, keeps what happens, and is back by itself."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.gateway.daemons import request
from tests.gateway.tenancy import SERVER, Gateway, Site, gateway, run
from tests.observe.prometheus_page import PageSamples, read_page
from tests.store.postgres.proxy import TcpProxy
from tests.waiting import until_async
from toolcrib.crib import inventory_of, stores_in
from toolcrib.errors import StoreAway
from toolcrib.gateway import KeyTerms
from toolcrib.gateway.gateway_metrics import count_waiting
from toolcrib.settings import DEFAULT_TENANT
from toolcrib.store import EventFilter, ReplicaStores


@pytest.fixture
def proxy(site: Site) -> Iterator[TcpProxy]:
    with ExitStack() as stack:
        yield stack.enter_context(TcpProxy(site.address))


async def is_ready(at: Gateway) -> bool:
    return (await request(at.port, "GET", "/ready")).status == 200


async def page(at: Gateway, key: str) -> PageSamples:
    answer = await request(at.port, "GET", "/metrics", {"Authorization": f"Bearer {key}"})
    assert answer.status == 200, answer
    return read_page(answer.body)


def cut(at: Gateway, proxy: TcpProxy) -> None:
    """The database is away, for longer than calls go on."""
    proxy.swallow()
    proxy.reset()
    stores = stores_in(at.daemon.serving.crib)
    assert isinstance(stores, ReplicaStores)
    stores._freshness._confirmed = None


def test_it_is_not_ready_says_why_and_loses_no_event(site: Site, proxy: TcpProxy):
    ann = site.key(DEFAULT_TENANT)
    scraper = site.key(DEFAULT_TENANT, "prometheus", KeyTerms(scopes=("metrics",)))
    behind = site._replace(address=proxy.address)

    async def test() -> None:
        async with gateway(behind, behind.settings()) as at:
            await until_async(lambda: is_ready(at), "it is ready")
            await at.tool(DEFAULT_TENANT, ann, "tool_search", queries=["before"])
            assert (await page(at, scraper))["toolcrib_store_up"] == {(): 1}
            cut(at, proxy)
            assert not await is_ready(at)
            assert (await request(at.port, "GET", "/health")).status == 200
            found = await page(at, scraper)
            assert found["toolcrib_store_up"] == {(): 0}
            assert count_waiting(at.daemon.serving.crib) is None, "`gateway status` goes on"
            assert found["toolcrib_approvals_waiting"] == {}
            await at.tool(DEFAULT_TENANT, ann, "tool_search", queries=["meanwhile"])

            async def waits() -> bool:
                return (await page(at, scraper))["toolcrib_events_waiting"][()] > 0

            await until_async(waits, "an event waits")
            proxy.restore()
            await until_async(lambda: is_ready(at), "it is ready again")

            async def is_sent() -> bool:
                return not await waits()

            await until_async(is_sent, "nothing waits")
            assert (await page(at, scraper))["toolcrib_events_dropped_total"] == {(): 0}
        events = site.stores(DEFAULT_TENANT).events
        assert len(events.newest(10, EventFilter(("search",)))) == 2

    run(test)


def test_it_starts_while_the_store_is_away_with_what_it_knows(site: Site, proxy: TcpProxy):
    entry = {"command": sys.executable, "args": ["-S", str(SERVER), "aardvark"]}
    site.write(DEFAULT_TENANT, "servers.json", json.dumps({"mcpServers": {"shop": entry}}).encode())
    behind = site._replace(address=proxy.address)
    settings = behind.settings()

    async def test() -> None:
        async with gateway(behind, settings) as at:
            crib = at.daemon.serving.crib
            await crib.refresh("shop")
            assert (await crib.call("mcp_shop_look_up")).ok
            await asyncio.to_thread(crib.index.store)
        proxy.swallow()
        proxy.reset()
        async with gateway(behind, settings) as at:
            crib = at.daemon.serving.crib
            found = await asyncio.to_thread(crib.search, "look up an order")
            assert "mcp_shop_look_up" in [hit.name for hit in found]
            refused = await crib.call("mcp_shop_look_up")
            assert refused.error
            assert refused.error.code == "store_away"
            assert not await is_ready(at)
            shop = inventory_of(crib).servers["shop"]
            away = shop.status().unavailable
            assert away
            assert away.remedy == "run `toolcrib doctor`", "a review would help nobody"
            proxy.restore()
            await until_async(lambda: is_ready(at), "it is ready")
            assert (await crib.call("mcp_shop_look_up")).ok
            assert shop.status().unavailable is None, "nothing waits for a review"

    run(test)


def test_one_that_knows_nothing_does_not_start(site: Site, proxy: TcpProxy):
    behind = site._replace(address=proxy.address)
    proxy.swallow()

    async def test() -> None:
        with pytest.raises(StoreAway):
            async with gateway(behind, behind.settings()):
                pass

    run(test)
