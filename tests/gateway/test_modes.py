"""How a principal is shown the tools: chosen, and as it looks to real clients."""

import asyncio
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from tests.execute.counting import offered
from tests.gateway.clients import (
    ERAS,
    NUMBERED,
    Era,
    Workshop,
    asked,
    connected,
    error_of,
    shop_tools,
    words,
)
from tests.waiting import let_pass_async
from tests.workshop import ListedSource
from toolcrib.crib import inventory_of
from toolcrib.errors import ConfigError
from toolcrib.gateway import EffectiveMode
from toolcrib.gateway.fixed_tool_definitions import FIXED_TOOLS
from toolcrib.gateway.modes import CLIENT_DEFAULTS, check_modes, effective_mode
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.model import JsonObject, Outcome, PermissionKind, SkillInfo, ToolInfo
from toolcrib.settings import (
    GatewayMode,
    GatewaySettings,
    ProfileSettings,
    SearchSettings,
    SessionSettings,
    Settings,
)

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "gateway.md"
ORDER = "mcp_shop_look_up_order"
GEAR = "mcp_shop_turn_gear_1"


@pytest.mark.parametrize(
    ("said", "size", "client", "modern", "mode"),
    [
        ("auto", (0, False), "", False, "search"),
        ("auto", (1, False), "", False, "direct"),
        ("auto", (999, False), "claude-code", False, "direct"),
        ("auto", (14, False), "", True, "direct"),
        ("auto", (15, True), "", False, "search"),
        ("auto", (1, True), "", False, "search"),
        ("auto", (15, True), "claude-code", False, "passthrough"),
        ("auto", (15, True), "Claude-Code", False, "passthrough"),
        ("auto", (200, True), "claude-code", False, "passthrough"),
        ("auto", (201, True), "claude-code", False, "search"),
        ("auto", (15, True), "claude-code", True, "search"),
        ("auto", (15, True), "Visual Studio Code - Insiders", False, "passthrough"),
        ("auto", (50, True), "opencode", False, "search"),
        ("auto", (50, True), "cursor-vscode", False, "search"),
        ("reveal", (3, False), "claude-code", False, "reveal"),
        ("reveal", (3, True), "", True, "search"),
        ("direct", (999, True), "", True, "direct"),
        ("passthrough", (999, False), "", True, "passthrough"),
        ("search", (1, False), "", False, "search"),
        ("code", (1, False), "claude-code", False, "code"),
        ("code", (999, True), "", True, "code"),
    ],
)
def test_the_mode_follows_the_profile_then_what_waits_then_the_client(
    said: GatewayMode, size: tuple[int, bool], client: str, modern: bool, mode: EffectiveMode
):
    tools, waits = size
    assert effective_mode(said, tools=tools, waits=waits, client=client, modern=modern) == mode


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        (Settings(gateway=GatewaySettings(mode="code")), "gateway.mode"),
        (
            Settings(gateway=GatewaySettings(profiles={"small": ProfileSettings(mode="code")})),
            "gateway.profiles.small.mode",
        ),
        (Settings(session=SessionSettings(style="code")), "session.style"),
    ],
)
def test_a_mode_that_needs_an_extra_is_refused_without_it(
    settings: Settings, key: str, monkeypatch: pytest.MonkeyPatch
):
    check_modes(settings)
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    with pytest.raises(ConfigError, match=rf"{key} = .*pip install 'toolcrib\[code\]'"):
        check_modes(settings)
    check_modes(Settings())


def test_a_style_and_a_trigger_that_exclude_each_other_are_refused():
    settings = Settings(tool_search="off", session=SessionSettings(style="code"))
    with pytest.raises(ConfigError, match="lists no tools, and `tool_search` is off"):
        check_modes(settings)


def test_every_line_of_the_table_is_dated_argued_and_documented():
    page = GUIDE.read_text(encoding="utf-8")
    for line in CLIENT_DEFAULTS:
        assert date.fromisoformat(line.checked) >= date(2026, 11, 1)
        assert line.why
        assert line.name == line.name.lower()
        assert re.search(rf"\| `{re.escape(line.name)}` \| `{line.mode}` \|", page), line.name
        assert fnmatchcase(line.name.rstrip("*"), line.name)


def principal(mode: GatewayMode, **others: Any) -> Principal:
    return Principal("ann", Profile(mode=mode, **others))


def test_a_reveal_is_listed_on_its_connection_and_no_other():
    shop = Workshop(allow=("write",))
    told: set[str] = set()
    heard = asyncio.Event()

    async def hear(message: object) -> None:
        told.add(getattr(message, "method", ""))
        heard.set()

    async def run() -> None:
        server = shop.server(principal("reveal"))
        async with (
            connected(server, message_handler=hear) as client,
            connected(server) as other,
            connected(server, "2026-07-28") as modern,
        ):
            assert len((await client.list_tools()).tools) == len(FIXED_TOOLS)
            await client.call_tool("tool_search", {"queries": [f"select:{GEAR},{ORDER}"]})
            await heard.wait()
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == [*FIXED_TOOLS, GEAR, ORDER]
            assert words(await client.call_tool(GEAR, {"number": 1})) == "done"
            await client.call_tool("tool_search", {"queries": ["cancel order"], "limit": 1})
            later = [tool.name for tool in (await client.list_tools()).tools]
            assert later[: len(names)] == names
            await modern.call_tool("tool_search", {"queries": [f"select:{GEAR}"]})
            for each in (other, modern):
                assert [tool.name for tool in (await each.list_tools()).tools] == [*FIXED_TOOLS]

    asked(run)
    assert told == {"notifications/tools/list_changed"}


def test_reveals_are_bounded():
    shop = Workshop(*shop_tools(100))

    async def run() -> None:
        async with connected(shop.server(principal("reveal"))) as client:
            for start in range(0, 96, 8):
                names = ",".join(f"mcp_shop_turn_gear_{n}" for n in range(start, start + 8))
                await client.call_tool("tool_search", {"queries": [f"select:{names}"]})
            listed = [tool.name for tool in (await client.list_tools()).tools]
            assert len(listed) == len(FIXED_TOOLS) + 64
            assert listed[-1] == "mcp_shop_turn_gear_95"

    asked(run)


@pytest.mark.parametrize("mode", ["search", "direct", "reveal", "passthrough"])
def test_a_disabled_tool_is_in_no_mode_found_listed_or_called(mode: GatewayMode):
    shop = Workshop(*shop_tools(3), replace(offered("turn_gear_off"), enabled=False))
    off = "mcp_shop_turn_gear_off"
    assert shop.crib.entries()[off].state == "disabled"

    async def run() -> None:
        async with connected(shop.server(principal(mode))) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert off not in tools
            if "tool_search" in tools:
                found = await client.call_tool("tool_search", {"queries": ["turn gear off"]})
                assert off not in words(found)
                refused = await client.call_tool("tool_call", {"name": off, "arguments": {}})
            else:
                refused = await client.call_tool(off, {})
            assert refused.is_error

    asked(run)
    assert shop.source.reached == []


BROKEN: list[ToolInfo] = [
    offered("no_root", schema={"properties": {"a": {"type": "string"}}}),
    offered("odd_property", schema={"type": "object", "properties": {"a": True}}),
    offered("odd_required", schema={"type": "object", "required": "a"}),
    offered("odd_properties", schema={"type": "object", "properties": 3}),
]


@pytest.mark.parametrize("era", ERAS)
def test_passthrough_lists_what_there_is_and_no_malformed_tool_breaks_it(era: Era):
    full = ToolInfo(
        name="full",
        description="All of it",
        title="Full",
        permission_kind="read",
        source="mcp",
        source_id="shop",
        parameters=NUMBERED,
        output_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
        annotations={"readOnlyHint": True, "idempotentHint": True, "destructiveHint": "x", "y": 1},
        search_hint="everything",
        meta={"ui/uri": "a://b", "anthropic/alwaysLoad": True},
    )
    odd_output = ToolInfo(
        name="odd_output",
        description="",
        source="mcp",
        source_id="shop",
        output_schema={"type": "array"},
        annotations={"readOnlyHint": True},
    )
    shop = Workshop(full, odd_output, *BROKEN)
    shop.source.answer = lambda _call: Outcome(
        [{"type": "text", "text": "x"}], {"n": 1}, blocks=True
    )

    async def run() -> None:
        async with connected(shop.server(principal("passthrough")), era) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {*shop.crib.entries(), "tool_result"}
            shown = tools["mcp_shop_full"]
            assert (shown.title, shown.input_schema) == ("Full", NUMBERED)
            assert shown.output_schema == full.output_schema
            hints = shown.annotations
            assert hints
            assert (hints.read_only_hint, hints.idempotent_hint) == (True, True)
            assert hints.destructive_hint is None
            assert shown.meta == {"ui/uri": "a://b", "anthropic/searchHint": "everything"}
            unbelieved = tools["mcp_shop_odd_output"].annotations
            assert unbelieved
            assert unbelieved.read_only_hint is False  # we hold it to be a `write`
            got = await client.call_tool("mcp_shop_full", {"number": 1})
            assert got.structured_content == {"n": 1}

    asked(run)


HINTS: Sequence[tuple[JsonObject, PermissionKind, JsonObject | None]] = [
    # as the server gives them, as we hold the tool to be, as a client gets them
    ({}, "write", None),
    ({"readOnlyHint": True}, "read", {"readOnlyHint": True}),
    ({"destructiveHint": False}, "write", {"destructiveHint": False}),
    ({"openWorldHint": True, "title": "T"}, "network", {"openWorldHint": True, "title": "T"}),
    ({"destructiveHint": True}, "dangerous", {"destructiveHint": True}),
    ({"readOnlyHint": True}, "write", {"readOnlyHint": False}),
    ({}, "read", {"readOnlyHint": True, "destructiveHint": False}),
    ({"readOnlyHint": True}, "dangerous", {"readOnlyHint": False, "destructiveHint": True}),
    ({"destructiveHint": True}, "read", {"readOnlyHint": True, "destructiveHint": False}),
]


@pytest.mark.parametrize("mode", ["passthrough", "direct", "reveal"])
def test_annotations_are_handed_on_as_they_are_unless_we_hold_the_tool_for_another(
    mode: GatewayMode,
):
    tools = [
        replace(offered(f"tool_{n}", kind), annotations=said)
        for n, (said, kind, _) in enumerate(HINTS)
    ]
    shop = Workshop(*tools)
    wanted = ",".join(f"tool_{n}" for n in range(len(HINTS)))

    async def run() -> None:
        async with connected(shop.server(principal(mode)), "legacy") as client:
            if mode == "reveal":
                await client.call_tool("tool_search", {"queries": [f"select:{wanted}"], "limit": 8})
            listed = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
            seen = [n for n in range(len(HINTS)) if f"mcp_shop_tool_{n}" in listed]
            assert len(seen) >= (8 if mode == "reveal" else len(HINTS))
            for n in seen:
                hints = listed[f"mcp_shop_tool_{n}"]
                got = hints and hints.model_dump(by_alias=True, exclude_unset=True)
                assert got == HINTS[n][2], n

    asked(run)


def test_direct_marks_every_tool_to_be_loaded_and_keeps_skills_in_reach():
    shop = Workshop(*shop_tools(4))
    skill = SkillInfo(name="pdf-forms", description="How to fill in forms", body="Step one.\n" * 9)
    shop.crib.add_source(ListedSource(skill))

    async def run() -> None:
        async with connected(shop.server()) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools[-3:]] == [
                "tool_search",
                "tool_describe",
                "tool_result",
            ]
            assert all((tool.meta or {}).get("anthropic/alwaysLoad") for tool in tools)
            found = words(await client.call_tool("tool_search", {"queries": ["fill in forms"]}))
            assert "- skill_pdf-forms [skill" in found
            assert "`tool_describe`" in found
            told = words(await client.call_tool("tool_describe", {"names": ["skill_pdf-forms"]}))
            assert "Step one." in told
            called = await client.call_tool("tool_call", {"name": "pdf-forms", "arguments": {}})
            assert error_of(called)["code"] == "not_a_tool"

    asked(run)


@pytest.mark.parametrize("mode", ["search", "direct", "passthrough"])
def test_the_list_is_the_same_bytes_every_time_and_in_the_modern_era_for_every_client(
    mode: GatewayMode,
):
    shop = Workshop()

    async def listed(server: Any, era: Era, name: str) -> str:
        async with connected(server, era, name=name) as client:
            await client.call_tool("tool_search", {"queries": ["order"]})
            tools = (await client.list_tools()).tools
            return json.dumps([tool.model_dump(mode="json") for tool in tools])

    async def run() -> None:
        server = shop.server(principal(mode))
        lists = {await listed(server, "2026-07-28", name) for name in ("claude-code", "x", "x")}
        assert len(lists) == 1
        assert lists == {await listed(shop.server(principal(mode)), "2026-07-28", "x")}
        assert len({await listed(server, "legacy", "x") for _ in range(2)}) == 1

    asked(run)


@pytest.mark.parametrize("era", ERAS)
def test_whoever_has_listed_is_told_when_the_list_is_another(era: Era):
    shop = Workshop(*shop_tools(5))
    told = asyncio.Event()

    async def hear(message: object) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            told.set()

    async def change() -> None:
        shop.source.tools["new"] = offered("new")
        await asyncio.to_thread(inventory_of(shop.crib).pool.refresh, shop.source)

    async def run() -> None:
        async with connected(shop.server(), era, message_handler=hear) as client:
            before = len((await client.list_tools()).tools)
            if era == "legacy":
                await change()
                await told.wait()
            else:
                async with client.listen(tools_list_changed=True) as news:
                    await change()
                    await anext(aiter(news))
            assert len((await client.list_tools()).tools) == before + 1

    asked(run)


def test_nobody_is_told_of_what_they_do_not_see():
    shop = Workshop()
    told: list[object] = []

    async def hear(message: object) -> None:
        told.append(message)

    async def run() -> None:
        async with connected(shop.server(principal("search")), message_handler=hear) as client:
            await client.list_tools()
            shop.source.tools["new"] = offered("new")
            inventory_of(shop.crib).pool.refresh(shop.source)
            await let_pass_async()
            await client.list_tools()

    asked(run)
    assert told == []


@pytest.mark.parametrize("era", ERAS)
def test_a_client_s_search_goes_by_the_fusion_that_is_set(era: Era):
    shop = Workshop(*shop_tools(20), search=SearchSettings(fusion="keywords"))

    async def run() -> None:
        async with connected(shop.server(Principal("ann")), era) as client:
            found = await client.call_tool("tool_search", {"queries": ["look_up_order", "odrer"]})
            assert f"{ORDER}(" in words(found)
            assert "Nothing fits" in words(found)

    asked(run)
