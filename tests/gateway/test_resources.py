"""Resources of the servers behind us, as the SDK's client sees them in either era."""

import asyncio
from collections.abc import Iterator
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.server import Server

from tests.gateway.fake_servers import ERAS, Person, add_fake, client_of, crib_at
from tests.waiting import HANG_S
from toolcrib import Crib
from toolcrib.access import Scope
from toolcrib.gateway import offers, resources
from toolcrib.gateway.input_requests import InputRequests
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.gateway.resources import LONGEST_URI, ResourceSubscriptions, fits_template


@pytest.fixture(scope="module")
def crib(tmp_path_factory) -> Iterator[Crib]:
    with crib_at(tmp_path_factory.mktemp("resources")) as crib:
        add_fake(crib, "b", "offers", "modern")
        add_fake(crib, "a", "offers", "bad-offers")
        add_fake(crib, "untrusted", "offers", trust="strict")
        yield crib


ALONE = frozenset({"a"})


def principal(**scope: Any) -> Principal:
    return Principal("ann", Profile(scope=Scope(**scope)))


def seen(crib: Crib, test: Any, era: str = "auto", who: Principal | None = None) -> Any:
    async def run() -> Any:
        async with asyncio.timeout(HANG_S), client_of(crib, era, Person(), who) as client:
            return await test(client)

    return asyncio.run(run())


async def uris(client: Any) -> list[str]:
    return [each.uri for each in (await client.list_resources()).resources]


@pytest.mark.parametrize("era", ERAS)
def test_all_are_listed_by_server_and_read(crib, era):
    async def test(client):
        listed = (await client.list_resources()).resources
        (template, *_) = (await client.list_resource_templates()).resource_templates
        read = [
            (await client.read_resource(uri)).contents[0]
            for uri in (listed[2].uri, template.uri_template.replace("{id}", "7"))
        ]
        return listed, template, read

    listed, template, read = seen(crib, test, era)
    assert [each.uri for each in listed] == [
        "toolcrib://a/fake://a",
        "toolcrib://a/fake://shared",
        "toolcrib://b/fake://a",
        "toolcrib://b/fake://shared",
    ]
    assert (listed[0].name, listed[0].description, listed[0].mime_type) == (
        "a",
        "The a",
        "text/plain",
    )
    assert template.uri_template == "toolcrib://a/fake://item/{id}"
    assert read[0].uri == "toolcrib://b/fake://a"
    assert read[0].text.endswith(" fake://a")
    assert "modern" in read[0].text
    assert read[1].uri == "toolcrib://a/fake://item/7"


@pytest.mark.parametrize("era", ERAS)
def test_a_bare_uri_will_do_where_it_is_unique(crib, era):
    async def test(client):
        listed = (await client.read_resource("fake://a")).contents[0]
        fitting = (await client.read_resource("fake://item/9")).contents[0]
        return listed.uri, fitting.uri

    who = principal(sources=ALONE)
    assert seen(crib, test, era, who) == ("fake://a", "fake://item/9")


@pytest.mark.parametrize("era", ERAS)
def test_what_is_of_several_or_of_none_says_what_there_is(crib, era):
    async def test(client):
        found = []
        for uri in ("fake://a", "fake://aa", "toolcrib://a/fake://gone"):
            with pytest.raises(MCPError) as raised:
                await client.read_resource(uri)
            found.append((raised.value.code, str(raised.value)))
        return found

    several, none, gone = seen(crib, test, era)
    assert "toolcrib://a/fake://a, toolcrib://b/fake://a" in several[1]
    missing = -32602 if era == "auto" else -32002
    assert (none[0], gone[0]) == (missing, missing)
    assert "nearest: fake://a" in none[1]
    assert "not found" in gone[1]


@pytest.mark.parametrize("era", ERAS)
def test_a_uri_that_is_too_long_is_refused_before_anything_is_looked_up(
    crib, era, monkeypatch: pytest.MonkeyPatch
):
    looked: list[str] = []
    monkeypatch.setattr(resources, "nearest_names", lambda uri, _all: looked.append(uri) or [])

    async def test(client):
        said = []
        for length in (LONGEST_URI, LONGEST_URI + 1):
            with pytest.raises(MCPError) as raised:
                await client.read_resource("fake://".ljust(length, "x"))
            said.append(str(raised.value))
        return said

    near, long = seen(crib, test, era)
    assert "no resource" in near
    assert "a URI has at most 8,192 characters" in long
    assert len(looked) == 1


def test_a_principal_sees_the_servers_of_their_profile_alone(crib):
    cases = [
        ({"sources": frozenset({"b"})}, {"b"}),
        ({"sources": frozenset[str]()}, set()),
        ({"allowed": frozenset({"mcp_a_echo"})}, {"a"}),
        ({"excluded": frozenset({"mcp_b_*"})}, {"a"}),
        ({"permissions": frozenset({"dangerous"})}, set()),
        ({}, {"a", "b"}),
    ]
    for scope, servers in cases:
        who = principal(**scope)
        assert {uri.split("/")[2] for uri in seen(crib, uris, who=who)} == servers, scope

    async def read_b(client):
        with pytest.raises(MCPError):
            await client.read_resource("toolcrib://b/fake://a")

    seen(crib, read_b, who=principal(sources=frozenset({"a"})))


def test_of_a_server_that_nobody_trusts_there_is_nothing(crib):
    who = principal(sources=frozenset({"untrusted"}))
    assert seen(crib, uris, who=who) == []

    async def read(client):
        with pytest.raises(MCPError, match="no resource"):
            await client.read_resource("toolcrib://untrusted/fake://a")

    seen(crib, read, who=who)


def test_a_long_list_comes_in_pages(crib, monkeypatch):
    monkeypatch.setattr(offers, "PAGE_SIZE", 1)

    async def test(client):
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        with pytest.raises(MCPError, match="not a cursor"):
            await client.list_resources(cursor="x")
        return len(first.resources), len(second.resources), second.next_cursor

    who = principal(sources=frozenset({"b"}))
    assert seen(crib, test, who=who) == (1, 1, None)


@pytest.mark.parametrize("era", ERAS)
def test_one_that_is_malformed_costs_no_other(crib, era):
    who = principal(sources=ALONE)
    assert seen(crib, uris, era, who) == ["toolcrib://a/fake://a", "toolcrib://a/fake://shared"]


@pytest.mark.parametrize("server", ["a", "b"])
def test_a_client_of_the_handshake_hears_of_the_resources_that_it_subscribed_to(crib, server):
    uri = f"toolcrib://{server}/fake://a"

    async def test():
        told = asyncio.Queue()

        async def hear(message):
            told.put_nowait(message)

        async with client_of(crib, "legacy", Person(), message_handler=hear) as client:
            await client.session.send_request(subscription(uri), types.EmptyResult)
            await client.call_tool(f"mcp_{server}_touch", {"uri": "fake://a"})
            heard = await told.get()
            end = types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri))
            await client.session.send_request(end, types.EmptyResult)
            with pytest.raises(MCPError, match="no resource"):
                await client.session.send_request(subscription("no://a"), types.EmptyResult)
            assert told.empty()
        return heard

    assert asyncio.run(asyncio.wait_for(test(), HANG_S)).params.uri == uri


def test_a_stream_of_the_modern_era_hears_of_what_can_be_watched(crib):
    alone = principal(sources=ALONE)
    visible, told = offers.VisibleOffers(crib, alone, InputRequests(alone)), []
    watched = ResourceSubscriptions(visible)

    async def seen_context(context, _params):
        heard = asyncio.Queue()
        async with watched.during(context, ["fake://a", "no://a"], heard.put):
            await crib.call("mcp_a_touch", {"uri": "fake://a"})
            told.append(await heard.get())
        return types.ListToolsResult(tools=[])

    async def test():
        async with Client(Server("s", on_list_tools=seen_context), mode="auto") as client:
            await client.list_tools()

    asyncio.run(asyncio.wait_for(test(), HANG_S))
    assert told == ["fake://a"]


def subscription(uri: str) -> types.SubscribeRequest:
    return types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))


@pytest.mark.parametrize(
    ("template", "uri", "is_one"),
    [
        ("a://x", "a://x", True),
        ("a://x", "a://xy", False),
        ("a://{b}/c{?q}", "a://1/c?q=2", True),
        ("a://{b}/c", "a://1/d", False),
        ("a://{b}-{c}/end", "a://1-2/end", True),
        ("a://{b}-{c}/end", "a://12/end", False),
        ("aa{b}aa", "aaa", False),
    ],
)
def test_what_can_be_of_a_template(template, uri, is_one):
    assert fits_template(template, uri) == is_one
