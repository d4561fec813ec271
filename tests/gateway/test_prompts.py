"""Prompts and completions of the servers behind us, as the SDK's client sees them."""

import asyncio
from collections.abc import Iterator
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError

from tests.gateway.fronting import ERAS, SOON, Person, add_fake, client_of
from tests.sources.mcp.faking import nothing_left
from toolcrib import Crib

BACKS = ("", "modern")


@pytest.fixture
def crib() -> Iterator[Crib]:
    with nothing_left(), Crib() as crib:
        yield crib


def seen(crib: Crib, era: str, test: Any) -> Any:
    async def run() -> Any:
        async with asyncio.timeout(SOON), client_of(crib, era, Person()) as client:
            return await test(client)

    return asyncio.run(run())


@pytest.mark.parametrize("back", BACKS)
@pytest.mark.parametrize("era", ERAS)
def test_a_prompt_is_filled_in_by_its_server(crib, era, back):
    add_fake(crib, "fake", "offers", back)

    async def test(client):
        (listed,) = (await client.list_prompts()).prompts
        full = await client.get_prompt(listed.name, {"who": "Ann"})
        bare = await client.get_prompt("greet", {"who": "Bob"})
        return listed, full, bare

    listed, full, bare = seen(crib, era, test)
    assert (listed.name, listed.description) == ("mcp_fake_greet", "Say hello")
    assert [(each.name, each.required) for each in listed.arguments] == [("who", True)]
    assert full.description == "A greeting"
    assert full.messages[0].content.text == "Hello, Ann!"  # without what was hidden in it
    assert bare.messages[0].content.text == "Hello, Bob!"


@pytest.mark.parametrize("era", ERAS)
def test_a_name_of_several_or_of_none_says_what_there_is(crib, era):
    add_fake(crib, "a", "offers")
    add_fake(crib, "b", "offers")

    async def test(client):
        with pytest.raises(MCPError, match="mcp_a_greet, mcp_b_greet"):
            await client.get_prompt("greet", {})
        with pytest.raises(MCPError, match="nearest: mcp_a_greet"):
            await client.get_prompt("mcp_a_great", {})

    seen(crib, era, test)


@pytest.mark.parametrize("back", BACKS)
@pytest.mark.parametrize("era", ERAS)
def test_completions_come_from_the_server_that_knows(crib, era, back):
    add_fake(crib, "a", "offers", back)
    add_fake(crib, "b", "offers", back)
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
