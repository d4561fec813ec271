"""The memory of tenants: what is closed is freed, and what is open takes about what is counted."""

import asyncio
import gc
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any
from weakref import ref

import pytest

from benchmarks.observe_world import made_up_tools
from benchmarks.replicas.tenant_seed import list_tools
from tests.gateway.tenancy import Gateway, Site, gateway, run
from tests.waiting import until_async
from toolcrib.crib import Crib
from toolcrib.gateway.closed_cribs import ClosedCribs
from toolcrib.gateway.tenants import OpenTenant

TOOLS = 2_000


def tenant_of(at: Gateway, name: str) -> OpenTenant | None:
    return next((each for each in at.daemon.tenants if each.name == name), None)


async def opened(at: Gateway, name: str, key: str) -> None:
    """Search in it, and wait until it has all indexed."""
    answer = await at.tool(name, key, "tool_search", queries=["send a letter"])
    assert answer.status == 200

    async def has_indexed() -> bool:
        tenant = tenant_of(at, name)
        return tenant is None or tenant.background.has_indexed

    await until_async(has_indexed, "it has indexed")


@pytest.fixture
def collects_nothing_by_itself() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("collects_nothing_by_itself")
def test_a_tenant_that_made_room_is_freed(site: Site):
    names = ("acme", "globex", "initech", "hooli")
    keys = {name: site.key(name) for name in names}

    freed: list[int] = []

    async def test() -> None:
        settings = site.settings(tenant_memory_mb=1)
        async with gateway(site, settings, lambda: freed.append(gc.collect())) as at:

            async def is_settled() -> bool:
                return len(freed) == 1

            await until_async(is_settled, "it has indexed its own tools")
            await opened(at, "acme", keys["acme"])
            tenant = tenant_of(at, "acme")
            assert tenant
            parts: list[ref[Any]] = [ref(tenant), ref(tenant.state.crib), ref(tenant.state)]
            del tenant
            for name in names[1:]:
                await opened(at, name, keys[name])

            async def is_freed() -> bool:
                return not any(each() for each in parts)

            await until_async(is_freed, "nothing of it is in memory")

    run(test)


def test_what_somebody_holds_is_not_looked_for_again():
    looked: list[str] = []
    closed, held = ClosedCribs(lambda: looked.append("looked")), Crib()
    closed.add(held, 100)
    closed.add(Crib(), 20)
    gc.collect()
    assert closed.size == 100
    asyncio.run(closed.free())
    assert (looked, closed.size) == (["looked"], 0)
    held.close()


def test_a_closed_crib_is_freed_with_all_that_it_holds():
    crib = Crib()
    crib.add(len_of)
    assert crib.search("length")
    stages = crib._stages
    held = (crib, stages, stages.inventory, stages.inventory.pool, stages._live_index)
    parts = [ref(each) for each in held]
    crib.close()
    del crib, stages, held
    gc.collect()
    assert not any(each() for each in parts)


def len_of(text: str) -> int:
    """The length of a text."""
    return len(text)


def traced() -> int:
    """How many bytes Python has handed out and not got back."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def test_what_a_tenant_takes_is_about_what_is_counted(site: Site):
    tools = made_up_tools(TOOLS)
    servers = site.folder / "servers.json"
    servers.write_text(json.dumps({"mcpServers": {"office": {"command": "none"}}}))
    keys = [site.key(name) for name in ("acme", "globex")]
    for name in ("acme", "globex"):
        list_tools(site.stores(name), servers, tools, {})

    async def test() -> None:
        async with gateway(site, site.settings(tenant_memory_mb=1_000)) as at:
            tracemalloc.start()
            try:
                await opened(at, "acme", keys[0])  # it fills the caches that all share
                before = traced()
                await opened(at, "globex", keys[1])
                taken = traced() - before
            finally:
                tracemalloc.stop()
            tenant = tenant_of(at, "globex")
            assert tenant
            assert len(tenant.state.crib.entries()) == TOOLS
            assert 0.6 < taken / tenant.size.measure() < 1.1

    run(test)
