"""`mcp__server__tool`, as other hosts of MCP servers write it, wherever a name or pattern is."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.execute.counting import CountingSource, offered
from tests.gateway.clients import ERAS, Era, asked, connected, error_of, words
from toolcrib import Caller, Crib, Scope
from toolcrib.gateway.principal import Principal, profile_named
from toolcrib.gateway.server import GatewayServer
from toolcrib.settings import (
    ApprovalRule,
    ApprovalSettings,
    GatewaySettings,
    ProfileSettings,
    SearchSettings,
    SessionSettings,
    Settings,
)

DELETE = "mcp__enterprise-tools__delete_all"
READ = "mcp__enterprise-tools__read_one"


def crib_of(**settings: Any) -> tuple[Crib, CountingSource]:
    others = [offered(f"read_{number}") for number in range(40)]
    tools = [offered("read_one"), offered("delete_all", "dangerous"), *others]
    source = CountingSource(*(replace(each, source_id="enterprise-tools") for each in tools))
    source.id = "enterprise-tools"
    crib = Crib(Settings(store=":memory:", plugins=False, builtin_tools=False, **settings))
    crib.add_source(source)
    return crib, source


def code(crib: Crib, name: str, **caller: Any) -> str:
    outcome = asyncio.run(crib.call(name, caller=Caller("ann", **caller)))
    return outcome.error.code if outcome.error else ""


def test_a_rule_decides_about_what_it_names():
    rules = (
        ApprovalRule(verdict="deny", pattern=DELETE),
        ApprovalRule(verdict="allow", pattern="mcp__enterprise-tools__*"),
    )
    crib, source = crib_of(approval=ApprovalSettings(servers="ask", rules=rules))
    with crib:
        assert code(crib, "delete_all") == "approval_denied"
        assert code(crib, DELETE) == "approval_denied"
        assert code(crib, READ) == ""
    assert [call.name for call in source.reached] == ["read_one"]


def test_a_scope_a_session_and_a_search_know_it():
    internal = SearchSettings(internal=("mcp__enterprise-tools__read_1*",))
    crib, _ = crib_of(session=SessionSettings(never_defer=(READ,)), search=internal)
    with crib:
        assert code(crib, "delete_all", scope=Scope(excluded=frozenset({DELETE}))) == "not_allowed"
        assert code(crib, READ, scope=Scope(allowed=frozenset({READ}))) == ""
        assert code(crib, "read_2", scope=Scope(allowed=frozenset({READ}))) == "not_allowed"
        assert code(crib, "read_11") != ""
        session = crib.session("thread")
        assert [tool.name for tool in session.core_tools()] == ["mcp_enterprise-tools_read_one"]
        found = session.search(f"select:{DELETE},mcp__enterprise_tools__read_one")
        assert found.revealed == ("mcp_enterprise-tools_delete_all",)


@pytest.mark.parametrize("era", ERAS)
def test_the_gateway_knows_it_in_profiles_searches_and_calls(era: Era):
    profile = ProfileSettings(tools=("mcp__enterprise-tools__*",), exclude=(DELETE,), pins=(READ,))
    crib, source = crib_of(gateway=GatewaySettings(profiles={"some": profile}))

    async def run() -> None:
        principal = Principal("ann", profile_named(crib.settings.gateway, "some"))
        async with connected(GatewayServer(crib, principal), era) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            assert listed[5:] == ["mcp_enterprise-tools_read_one"]
            found = words(await client.call_tool("tool_search", {"queries": [f"select:{READ}"]}))
            assert "mcp_enterprise-tools_read_one" in found
            named = {"name": READ, "arguments": {}}
            assert not (await client.call_tool("tool_call_read", named)).is_error
            assert not (await client.call_tool(READ, {})).is_error
            named = {"name": DELETE, "arguments": {}}
            refused = await client.call_tool("tool_call", named)
            assert error_of(refused)["code"] == "unknown_tool"

    with crib:
        asked(run)
    assert [call.name for call in source.reached] == ["read_one", "read_one"]
