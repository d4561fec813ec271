"""Prompts and completions of the servers behind us, as the SDK's client sees them."""

import asyncio
from collections.abc import Iterator
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError

from tests.gateway.fake_servers import ERAS, Person, add_fake, client_of, crib_at
from tests.waiting import HANG_S
from toolcrib import Crib
from toolcrib.access import Scope
from toolcrib.gateway.principal import Principal, Profile


@pytest.fixture(scope="module")
def crib(tmp_path_factory) -> Iterator[Crib]:
    with crib_at(tmp_path_factory.mktemp("prompts")) as crib:
        add_fake(crib, "a", "offers")
        add_fake(crib, "b", "offers", "modern")
        yield crib


def principal_of(server: str) -> Principal:
    return Principal("ann", Profile(scope=Scope(sources=frozenset({server}))))


def seen(crib: Crib, era: str, test: Any, who: Principal | None = None) -> Any:
    async def run() -> Any:
        async with asyncio.timeout(HANG_S), client_of(crib, era, Person(), who) as client:
            return await test(client)

    return asyncio.run(run())


@pytest.mark.parametrize("server", ["a", "b"])
@pytest.mark.parametrize("era", ERAS)
def test_a_prompt_is_filled_in_by_its_server(crib, era, server):

    async def test(client):
        (listed,) = (await client.list_prompts()).prompts
        full = await client.get_prompt(listed.name, {"who": "Ann"})
        bare = await client.get_prompt("greet", {"who": "Bob"})
        return listed, full, bare

    listed, full, bare = seen(crib, era, test, principal_of(server))
    assert (listed.name, listed.description) == (f"mcp_{server}_greet", "Say hello")
    assert [(each.name, each.required) for each in listed.arguments] == [("who", True)]
    assert full.description == "A greeting"
    assert full.messages[0].content.text == "Hello, Ann!"  # without what was hidden in it
    assert bare.messages[0].content.text == "Hello, Bob!"


@pytest.mark.parametrize("era", ERAS)
def test_a_name_of_several_or_of_none_says_what_there_is(crib, era):
    async def test(client):
        with pytest.raises(MCPError, match="mcp_a_greet, mcp_b_greet"):
            await client.get_prompt("greet", {})
        with pytest.raises(MCPError, match="Nearest: mcp_a_greet"):
            await client.get_prompt("mcp_a_great", {})

    seen(crib, era, test)


@pytest.mark.parametrize("era", ERAS)
def test_completions_come_from_the_server_that_knows(crib, era):
    prompt = types.PromptReference(type="ref/prompt", name="mcp_b_greet")
    template = "toolcrib://a/fake://item/{id}"
    item = types.ResourceTemplateReference(type="ref/resource", uri=template)
    bare = types.ResourceTemplateReference(type="ref/resource", uri="fake://item/{id}")

    async def test(client):
        argument = {"name": "who", "value": "Lin"}
        one = await client.complete(prompt, argument, {"size": "tall"})
        other = await client.complete(item, {"name": "id", "value": "1"})
        with pytest.raises(MCPError, match=r"toolcrib://a/.*, toolcrib://b/"):
            await client.complete(bare, argument)
        return one.completion.values, other.completion.values

    one, other = seen(crib, era, test)
    assert one == ["Linda", "Linna", "tall", "greet"]
    assert other == ["1da", "1na", "fake://item/{id}"]
