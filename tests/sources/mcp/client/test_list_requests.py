"""Lists are bounded in sum: all pages of one, and all that are under way."""

import asyncio
import json

from tests.sources.mcp.faking import fake
from toolcrib.sources.mcp.client import list_requests
from toolcrib.sources.mcp.client.list_requests import ListAllowance


def test_large_pages_without_end_are_cut_by_their_sum(shop, monkeypatch):
    monkeypatch.setattr(list_requests, "LARGEST_LISTING", 12 * 1024 * 1024)
    source = shop.listed(fake("flood"))
    known = source._memory.known.listing
    assert not known.complete
    assert 8 * 1024 * 1024 < len(json.dumps(known.tools)) <= list_requests.LARGEST_LISTING
    assert any("was cut after" in problem for problem in source.problems)
    assert shop.listed(fake(id="honest")).status().tools > 5


def test_the_sum_is_that_of_tools_and_of_all_else(monkeypatch):
    monkeypatch.setattr(list_requests, "LARGEST_LISTING", 1000)

    async def taking() -> list[bool]:
        allowance = ListAllowance(asyncio.Semaphore(1))
        return [await allowance.take(size) for size in (600, 400, 1)]

    assert asyncio.run(taking()) == [True, True, False]


def test_only_a_few_lists_may_be_large_at_once_and_small_ones_wait_for_nobody():
    async def taking() -> None:
        large = asyncio.Semaphore(1)
        first, second, small = (ListAllowance(large) for _ in range(3))
        assert await first.take(list_requests.LARGE + 1)
        waiting = asyncio.create_task(second.take(list_requests.LARGE + 1))
        assert await small.take(list_requests.LARGE)
        await asyncio.sleep(0)
        assert not waiting.done()
        first.leave()
        assert await waiting
        second.leave()
        small.leave()
        assert not large.locked()

    asyncio.run(taking())
