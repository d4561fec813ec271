"""What waits for a search is decided for the gateway as for sessions: seen by bare clients."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.execute.counting import offered
from tests.gateway.clients import ERAS, NUMBERED, Era, Workshop, asked, connected, shop_tools, words
from tests.sources.mcp.faking import FAKE, nothing_left, own_file
from toolcrib.crib import Crib
from toolcrib.gateway.code_tool_definitions import CODE_TOOLS
from toolcrib.gateway.fixed_tool_definitions import FIXED_TOOLS
from toolcrib.gateway.principal import Principal, Profile, profile_named
from toolcrib.gateway.server import GatewayServer
from toolcrib.model import ToolInfo
from toolcrib.settings import (
    ApprovalSettings,
    GatewayMode,
    GatewaySettings,
    ProfileSettings,
    SessionSettings,
    Settings,
    load_settings,
)

FIXED = [*FIXED_TOOLS]
ORDER, GEAR = "mcp_shop_look_up_order", "mcp_shop_turn_gear_1"


def in_mode(mode: GatewayMode, **others: Any) -> Principal:
    return Principal("ann", Profile(mode=mode, **others))


async def tools_of(server: GatewayServer, era: Era, name: str = "bare") -> list[Any]:
    """The tools that a new client of this name is listed, as they come."""
    async with connected(server, era, name=name) as client:
        listed = (await client.list_tools()).tools
        return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]


def listed(server: GatewayServer, era: Era, name: str = "bare") -> list[str]:
    found: list[str] = []

    async def run() -> None:
        found.extend(tool["name"] for tool in await tools_of(server, era, name))

    asked(run)
    return found


def every_name(shop: Workshop) -> list[str]:
    return [*sorted(shop.crib.entries()), "tool_result"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("tool_search", "waits"),
    [
        ("on", True),
        ("true", True),
        ("off", False),
        ("false", False),
        ("auto", False),
        ("auto:0", True),
        ("auto:1", True),
        ("auto:100", False),
        ("conversation:90", True),
    ],
)
def test_each_value_of_tool_search_decides_what_a_client_is_listed(
    tool_search: str, waits: bool, era: Era
):
    session = SessionSettings(context_window=20_000)
    shop = Workshop(allow=("write",), tool_search=tool_search, session=session)

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == (FIXED if waits else every_name(shop))
            assert words(await client.call_tool(GEAR, {"number": 1})) == "done"

    asked(run)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("value", "waits"),
    [("true", True), ("auto", False), ("auto:0", True), ("false", False), ("yes!", False)],
)
def test_the_variable_that_other_programs_read_too_decides_it_as_well(
    value: str, waits: bool, era: Era, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    settings = load_settings({"ENABLE_TOOL_SEARCH": value, "TOOLCRIB_STORE": ":memory:"})
    shop = Workshop(tool_search=settings.tool_search)
    assert listed(shop.server(), era) == (FIXED if waits else every_name(shop))


@pytest.mark.parametrize("era", ERAS)
def test_the_window_is_that_of_the_profile_else_that_of_sessions(era: Era):
    profiles = {
        "small": ProfileSettings(context_window=4_000),
        "large": ProfileSettings(context_window=1_000_000),
    }
    session = SessionSettings(context_window=4_000)
    gateway = GatewaySettings(profiles=profiles)
    shop = Workshop(tool_search="auto", gateway=gateway, session=session)

    def names(profile: str) -> list[str]:
        return listed(shop.server(Principal("ann", profile_named(gateway, profile))), era)

    assert names("small") == names("default") == FIXED
    assert names("large") == every_name(shop)


def test_a_client_that_defers_by_itself_is_told_to_load_all_where_nothing_waits():
    def loads(tool_search: str) -> set[bool]:
        shop, found = Workshop(tool_search=tool_search), set[bool]()

        async def run() -> None:
            for tool in await tools_of(shop.server(), "legacy", "claude-code"):
                if tool["name"] not in FIXED_TOOLS:
                    found.add("anthropic/alwaysLoad" in tool.get("_meta", {}))

        asked(run)
        return found

    assert loads("off") == {True}
    assert loads("on") == {False}


def never_deferred() -> Sequence[ToolInfo]:
    """Twenty tools and three that never wait, each for a reason of its own; one always waits."""
    return [
        *shop_tools(20),
        replace(offered("b_never", "read", NUMBERED), defer="never"),
        replace(offered("a_required", "read", NUMBERED), required=True),
        replace(offered("c_unsearchable", "read", NUMBERED), searchable=False, defer="never"),
        replace(offered("always", "read", NUMBERED), defer="always"),
    ]


NEVER = SessionSettings(never_defer=("mcp__shop__look_*",))
LISTED = [
    "mcp_shop_a_required",
    "mcp_shop_b_never",
    "mcp_shop_c_unsearchable",
    ORDER,
    GEAR,
]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("mode", ["auto", "search", "reveal", "code"])
def test_what_is_never_deferred_stands_behind_the_fixed_tools_in_one_order(
    mode: GatewayMode, era: Era
):
    shop = Workshop(*never_deferred(), allow=("write",), session=NEVER)
    server = shop.server(in_mode(mode, pins=frozenset({"shop/turn_gear_1"})))
    fixed = [*CODE_TOOLS] if mode == "code" else FIXED

    async def run() -> None:
        first = await tools_of(server, era)
        assert [tool["name"] for tool in first] == [*fixed, *LISTED]
        assert first[-1]["inputSchema"] == NUMBERED
        async with connected(server, era) as client:
            await client.call_tool("tool_search", {"queries": ["cancel order"]})
            assert words(await client.call_tool(ORDER, {"number": 1})) == "done"
        again = await tools_of(shop.server(in_mode(mode, pins=frozenset({GEAR}))), era)
        assert json.dumps(again) == json.dumps(first)

    asked(run)


def test_a_profile_is_listed_nothing_that_it_may_not_have():
    shop = Workshop(*never_deferred(), session=NEVER)
    scope = replace(Profile().scope, excluded=frozenset({"shop/b_*", "shop/look_*"}))
    server = shop.server(Principal("ann", Profile(scope=scope)))
    assert listed(server, "legacy") == [*FIXED, LISTED[0], LISTED[2]]


@pytest.mark.parametrize("era", ERAS)
def test_what_always_waits_waits_among_few_tools_too_unless_all_are_wanted(era: Era):
    tools = [*shop_tools(4), replace(offered("always", "read", NUMBERED), defer="always")]
    shop = Workshop(*tools)
    others = sorted(set(shop.crib.entries()) - {"mcp_shop_always"})
    assert listed(shop.server(), era) == [*FIXED, *others]
    assert listed(Workshop(*tools, tool_search="off").server(), era) == every_name(shop)
    assert listed(shop.server(in_mode("search")), era) == FIXED


def test_a_host_that_defers_is_told_which_tools_never_wait():
    shop = Workshop(*never_deferred(), session=NEVER)

    async def run() -> None:
        server = shop.server(in_mode("passthrough", pins=frozenset({GEAR})))
        tools = await tools_of(server, "legacy")
        loaded = [t["name"] for t in tools if "anthropic/alwaysLoad" in t.get("_meta", {})]
        assert loaded == [*LISTED, "tool_result"]
        assert [tool["name"] for tool in tools] == every_name(shop)

    asked(run)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("mode", ["auto", "reveal"])
def test_stubs_stand_in_the_list_until_they_are_revealed(mode: GatewayMode, era: Era):
    shop = Workshop(allow=("write",), session=SessionSettings(style="stub"))
    server = shop.server(in_mode(mode))

    async def run() -> None:
        async with connected(server, era) as client:
            first = (await client.list_tools()).tools
            names = [tool.name for tool in first]
            assert names[: len(FIXED)] == FIXED
            assert sorted(names[len(FIXED) :]) == sorted(shop.crib.entries())
            schemas = {tool.name: tool.input_schema for tool in first}
            assert schemas[GEAR] == {"type": "object", "description": "Call tool_search first."}
            await client.call_tool("tool_search", {"queries": [f"select:{GEAR}"]})
            assert words(await client.call_tool(GEAR, {"number": 1})) == "done"
            later = (await client.list_tools()).tools
            assert [tool.name for tool in later] == names
            reveals = mode == "reveal" and era == "legacy"
            now = {tool.name: tool.input_schema for tool in later}
            assert (now[GEAR] == NUMBERED) is reveals

    asked(run)


@pytest.mark.parametrize("era", ERAS)
def test_the_style_code_is_the_mode_code_where_no_mode_is_chosen(era: Era):
    shop = Workshop(session=SessionSettings(style="code", never_defer=("shop/look_*",)))
    assert listed(shop.server(), era) == [*CODE_TOOLS, ORDER]
    assert listed(shop.server(in_mode("search")), era) == [*FIXED, ORDER]


@pytest.mark.parametrize("era", ERAS)
def test_a_change_of_the_settings_is_in_the_next_list(era: Era):
    shop = Workshop()
    server = shop.server()
    assert listed(server, era) == FIXED
    changed = shop.crib.settings.model_copy(update={"tool_search": "off"})
    assert shop.crib.operator.take_settings(changed)
    assert listed(server, era) == every_name(shop)


@pytest.mark.parametrize("era", ERAS)
def test_a_servers_own_entry_says_what_waits(era: Era):
    args = ["-S", str(FAKE), *(f"tool=tool_{number:02}" for number in range(20))]
    entry = {"command": sys.executable, "args": args}
    entries = {
        "all": {**entry, "defer": "never"},
        "one": {**entry, "always_load": ["tool_07"]},
        "none": entry,
    }
    file = own_file()
    file.write_text(json.dumps({"mcpServers": entries}))
    settings = Settings(
        store=":memory:",
        builtin_tools=False,
        plugins=False,
        mcp_config=(file,),
        approval=ApprovalSettings(wait_s=0),
    )
    with nothing_left(), Crib.from_settings(settings) as crib:

        async def refresh() -> None:
            await crib.refresh()

        asked(refresh)
        names = listed(GatewayServer(crib, Principal("ann")), era)
        assert names[: len(FIXED)] == FIXED
        of_all = [name for name in crib.entries() if name.startswith("mcp_all_")]
        assert names[len(FIXED) :] == [*sorted(of_all), "mcp_one_tool_07"]
