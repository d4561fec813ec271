"""A key that may only search finds and reads, and nothing that it does reaches a tool."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client, MCPError

from tests.gateway.clients import ERAS, Era, Workshop, asked, connected, error_of, shop_tools, words
from tests.gateway.fake_servers import Person, add_fake, client_of, crib_at
from tests.waiting import HANG_S
from toolcrib.gateway.principal import Principal, Profile

READER = Principal("key:reader", may_call=False)


@pytest.mark.plan(49)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("mode", ["search", "direct"])
def test_whoever_may_search_finds_and_reads_and_calls_nothing(era: Era, mode: str):
    shop = Workshop(*shop_tools(), allow=("read", "write", "execute", "network", "dangerous"))
    principal = Principal("key:reader", Profile(mode=mode), may_call=False)  # type: ignore[arg-type]
    tool = "mcp_shop_cancel_order"

    async def run() -> None:
        async with connected(shop.server(principal), era) as client:
            found = await client.call_tool("tool_search", {"queries": ["cancel an order"]})
            assert tool in words(found)
            assert tool in words(await client.call_tool("tool_describe", {"names": [tool]}))
            tried = [
                await client.call_tool("tool_call", {"name": tool}),
                await client.call_tool(
                    "tool_call_read", {"name": "mcp_shop_look_up_order", "arguments": {"number": 1}}
                ),
                await client.call_tool(tool, {}),
            ]
            for result in tried:
                assert error_of(result)["effect"] == "not_sent"
            assert error_of(tried[0])["code"] == error_of(tried[2])["code"] == "not_allowed"
            assert "may search" in error_of(tried[0])["message"]

    asked(run)
    assert not shop.source.reached


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_whoever_may_search_reads_no_resource_and_gets_no_prompt(tmp_path: Path, era: str):
    async def attempt(client: Client) -> None:
        (resource, *_) = (await client.list_resources()).resources
        (prompt, *_) = (await client.list_prompts()).prompts
        with pytest.raises(MCPError, match="may search"):
            await client.read_resource(resource.uri)
        with pytest.raises(MCPError, match="may search"):
            await client.get_prompt(prompt.name)

    with crib_at(tmp_path) as crib:
        add_fake(crib, "a", "offers")

        async def run() -> None:
            async with asyncio.timeout(HANG_S), client_of(crib, era, Person(), READER) as client:
                await attempt(client)

        asyncio.run(run())
