"""No way round the door.

A route is any way by which a call can come to a tool. Every route stands in `ROUTES`; a public way
to call that has no row fails the last test.
"""

import asyncio
import inspect
import random
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

import toolcrib
from tests.defaults import POLICY, rulebook
from tests.execute.counting import ANN, CountingSource, Shop, offered
from tests.gateway.clients import Era, connected
from tests.plan import amount
from toolcrib.access import Scope
from toolcrib.cli.app import app
from toolcrib.crib import Crib, inventory_of, recipes_of
from toolcrib.execute import (
    ApprovalRequest,
    Caller,
    Door,
    Rule,
    per_request_tools,
)
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.gateway.server import GatewayServer
from toolcrib.model import Call, JsonObject, Outcome, PermissionKind
from toolcrib.program.recipe import Recipe, RecipeTool
from toolcrib.settings import ApprovalRule, ApprovalSettings, GatewayMode, Settings

KINDS: tuple[PermissionKind, ...] = get_args(PermissionKind)
NAME = "mcp_shop_tool"
NO_INPUTS: JsonObject = {"type": "object", "properties": {}, "additionalProperties": False}


class World:
    """A crib with one tool, which the operator's rules leave to be asked for whatever its kind."""

    def __init__(self, kind: PermissionKind, verdict: str = "ask") -> None:
        rule = ApprovalRule(verdict=verdict)  # pyright: ignore[reportArgumentType]
        settings = Settings(store=":memory:", approval=ApprovalSettings(rules=(rule,), wait_s=0))
        self.crib = Crib(settings)
        self.source = CountingSource(offered("tool", kind))
        self.crib.add_source(self.source)
        self.caller = ANN
        self.pin = ""

    @property
    def door(self) -> Door:
        return self.crib._stages.calls.door

    def call(self, name: str = NAME, **options) -> Outcome:
        return asyncio.run(self.crib.call(name, {}, caller=self.caller, pin=self.pin, **options))


# Routes: how a call comes in.


def exact(world: World) -> None:
    world.call()


def short_name(world: World) -> None:
    world.call("tool")


def as_text(world: World) -> None:
    asyncio.run(world.crib.call(NAME, "{}", caller=world.caller, pin=world.pin))


def door(world: World) -> None:
    caller = inventory_of(world.crib).restricted(world.caller)
    asyncio.run(world.door.execute(Call(NAME, pin=world.pin), caller))


def again_and_again(world: World) -> None:
    for _ in range(3):
        world.call()


def at_once(world: World) -> None:
    async def many() -> None:
        calls = [world.crib.call(NAME, {}, caller=world.caller, pin=world.pin) for _ in range(5)]
        await asyncio.gather(*calls)

    asyncio.run(many())


def nested(world: World) -> None:
    """From within another tool, which itself is approved."""

    async def helper() -> str:
        outcome = await world.crib.call(NAME, {}, caller=world.caller, pin=world.pin)
        return str(outcome.ok)

    async def yes(request: ApprovalRequest, /) -> bool:
        return request.name == "helper"

    async def both() -> None:
        with per_request_tools(helper):
            await world.crib.call("helper", {}, caller=ANN, approver=yes)

    asyncio.run(both())


def after_a_search(world: World) -> None:
    world.crib.search(f"select:{NAME}")
    world.call()


def fallback_after_an_approved_one(world: World) -> None:
    """Approval of one tool is none of the next."""
    other = CountingSource(offered("other", "dangerous"))
    world.crib.add_source(other)

    async def yes(_request: ApprovalRequest, /) -> bool:
        return True

    asyncio.run(world.crib.call("mcp_shop_other", {}, caller=ANN, approver=yes))
    world.call()


def page_of_a_result(world: World) -> None:
    world.crib.result(NAME, caller=world.caller)
    world.call()


def program(world: World) -> None:
    """A program that calls it; and the same program taken up again, if it waits for approval."""

    async def both() -> None:
        outcome = await world.crib.run("await shop.tool()", caller=world.caller)
        if outcome.suspended:
            await world.crib.resume(outcome.suspended, caller=world.caller)

    asyncio.run(both())
    world.crib.close()


def recipe(world: World) -> None:
    """A recipe that calls it, which itself is allowed; and the same call again, if it waits."""
    tool = RecipeTool(NAME, "shop.tool", "read", world.pin or world.crib.get(NAME).pin)
    desk = recipes_of(world.crib)
    desk.book.write(Recipe("kept", "Call it", NO_INPUTS, "await shop.tool()", (tool,)))
    desk.refresh()

    async def yes(request: ApprovalRequest, /) -> bool | None:
        return True if request.name == "kept" else None

    async def twice() -> None:
        scope = world.caller.scope
        if scope.allowed is not None:
            scope = replace(scope, allowed=scope.allowed | {"kept"})
        caller = replace(world.caller, scope=scope)
        for _ in range(2):
            await world.crib.call("kept", {}, caller=caller, approver=yes)

    asyncio.run(twice())
    world.crib.close()


def command_line(world: World) -> None:
    """Without a terminal and without --yes. The crib is the world's; the caller is the host."""
    opened = world.crib
    if world.caller is not ANN:
        opened = Crib(world.crib.settings)
        inventory_of(opened).scope_of = lambda _scope: world.caller.scope  # type: ignore[method-assign]
        opened.add_source(world.source)
    original = Crib.from_settings
    Crib.from_settings = classmethod(lambda _cls, _settings: opened)  # type: ignore[method-assign]
    try:
        CliRunner().invoke(app, ["call", NAME], input="")
    finally:
        Crib.from_settings = original


def over_mcp(
    era: Era, tool: str, given: JsonObject, mode: GatewayMode = "auto"
) -> Callable[[World], None]:
    """A call as a front client makes it."""

    def route(world: World) -> None:
        principal = Principal(world.caller.id, Profile(mode=mode, scope=world.caller.scope))
        principal.__dict__["caller"] = world.caller  # whom the tickets are for
        server = GatewayServer(world.crib, principal)

        async def calling() -> None:
            async with connected(server, era) as client:
                await client.call_tool(tool, dict(given))

        asyncio.run(calling())
        world.crib.close()

    return route


WANTED: JsonObject = {"name": NAME, "arguments": {}}
OVER_MCP: dict[str, Callable[[World], None]] = {
    "tool_call": over_mcp("legacy", "tool_call", WANTED),
    "tool_call, modern": over_mcp("2026-07-28", "tool_call", WANTED),
    "tool_call_read": over_mcp("2026-07-28", "tool_call_read", WANTED),
    "by name": over_mcp("legacy", NAME, {}),
    "by bare name": over_mcp("2026-07-28", "tool", {}),
    "tool_run": over_mcp("2026-07-28", "tool_run", {"program": "await shop.tool()"}, "code"),
}
READS_ALONE = frozenset({"tool_call_read"})

ROUTES: dict[str, Callable[[World], None]] = {
    route.__name__: route
    for route in (
        exact, short_name, as_text, door, again_and_again, at_once, nested, after_a_search,
        fallback_after_an_approved_one, page_of_a_result, program, recipe, command_line,
    )
} | OVER_MCP  # fmt: skip


# Reasons: why no call may go through.


def unapproved(kind: PermissionKind) -> World:
    return World(kind)


def denied(kind: PermissionKind) -> World:
    return World(kind, "deny")


def expired(kind: PermissionKind) -> World:
    world = World(kind)
    error = world.call().error
    assert error
    assert world.crib.operator.tickets.approve(error.ticket)
    world.crib.operator.tickets._file._clock = lambda: 10.0**12  # type: ignore[method-assign]
    return world


def approved_for_another(kind: PermissionKind) -> World:
    world = World(kind)
    error = asyncio.run(world.crib.call(NAME, {}, caller=Caller("bob"))).error
    assert error
    assert world.crib.operator.tickets.approve(error.ticket)
    return world


def approved_with_other_arguments(kind: PermissionKind) -> World:
    world = World(kind)
    error = asyncio.run(world.crib.call(NAME, {"a": 1}, caller=ANN)).error
    assert error
    assert world.crib.operator.tickets.approve(error.ticket)
    return world


def changed(kind: PermissionKind) -> World:
    """Approved, and then another definition."""
    world = World(kind)
    error = world.call().error
    assert error
    assert world.crib.operator.tickets.approve(error.ticket)
    world.source.tools["tool"] = offered("tool", kind, {"type": "object", "title": "new"})
    inventory_of(world.crib).pool.refresh(world.source)
    return world


def awaiting_review(kind: PermissionKind) -> World:
    world = World(kind, "allow")
    world.source.states["tool"] = "changed"
    inventory_of(world.crib).pool.refresh(world.source)
    return world


def disabled(kind: PermissionKind) -> World:
    world = World(kind, "allow")
    world.source.states["tool"] = "disabled"
    inventory_of(world.crib).pool.refresh(world.source)
    return world


def without_right(kind: PermissionKind) -> World:
    world = World(kind, "allow")
    world.caller = Caller("ann", Scope(allowed=frozenset({"helper"})))
    return world


def policy_down(kind: PermissionKind) -> World:
    world = World(kind)

    def gone(_request) -> bool:
        raise OSError("the store of approvals is gone")

    world.crib.operator.tickets.spend = gone  # type: ignore[method-assign]
    return world


REASONS = (
    unapproved, denied, expired, approved_for_another, approved_with_other_arguments, changed,
    awaiting_review, disabled, without_right, policy_down,
)  # fmt: skip


@pytest.mark.plan(41)
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_route_leads_round_the_door(route: str, reason, kind: PermissionKind):
    world = reason(kind)
    ROUTES[route](world)
    assert [call for call in world.source.reached if call.name == "tool"] == []


@pytest.mark.plan(41)
@pytest.mark.parametrize("route", sorted(ROUTES.keys() - {"command_line"} - READS_ALONE))
def test_every_route_leads_to_the_tool_when_there_is_leave(route: str):
    world = World("dangerous", "allow")
    ROUTES[route](world)
    assert [call for call in world.source.reached if call.name == "tool"]


@pytest.mark.plan(41)
@pytest.mark.parametrize("kind", KINDS)
def test_the_route_for_what_reads_leads_to_nothing_else(kind: PermissionKind):
    world = World(kind, "allow")
    ROUTES["tool_call_read"](world)
    assert bool(world.source.reached) == (kind == "read")


@pytest.mark.plan(41)
def test_every_public_way_to_call_has_a_row():
    """Whatever awaits or takes a call or a handle is one of the routes above.

    `refresh` is none: it lists what servers have, and calls nothing of it. `paged` is none: it
    holds what a call has given. `resume` is in the route `program`.
    """
    ways = {
        name
        for owner in (Crib, Door)
        for name, member in inspect.getmembers(owner, callable)
        if not name.startswith("_") and inspect.iscoroutinefunction(member)
    }
    assert ways - {"refresh", "paged"} == {"call", "execute", "run", "resume"}
    calling = [
        path.name
        for path in Path(toolcrib.__file__).parent.rglob("*.py")
        if "sources" not in path.parts  # a source may hand a call on within itself
        and re.search(r"\.call\(call[,)]", path.read_text(encoding="utf-8"))
    ]
    assert calling == ["dispatch.py"]


@pytest.mark.plan(42)
def test_the_approval_of_one_hop_never_covers_the_next():
    """Chains of random tools, of which a random part is approved."""
    chance = random.Random(42)
    names = [f"t{n}" for n in range(6)]
    for _ in range(amount(42, "chains")):
        shop = Shop(*(offered(name, "dangerous") for name in names))
        approved = {name for name in names if chance.random() < 0.5}
        for name in approved:
            error = asyncio.run(shop.door.execute(Call(name), ANN)).error
            assert error
            assert shop.door.tickets.approve(error.ticket)
        for name in chance.sample(names, len(names)):
            asyncio.run(shop.door.execute(Call(name), ANN))
        assert {call.name for call in shop.reached} == approved


def look_alikes(name: str, count: int):
    chance = random.Random(43)
    others = {"o": "оο0ⓞｏ", "l": "1Iｌⅼ", "t": "тｔ", "_": "＿-‿ ", "s": "ѕｓ", "c": "сｃ"}
    for _ in range(count):
        at = chance.randrange(len(name))
        swaps = [
            *others.get(name[at], ""),
            name[at].upper(),
            name[at] + chance.choice("\u200b\u00ad\u0301\x00 "),
        ]
        other = name[:at] + chance.choice(swaps) + name[at + 1 :]
        yield other
        yield unicodedata.normalize("NFKC", other)


@pytest.mark.plan(43)
def test_only_the_exact_name_is_the_name():
    shop = Shop(offered("tool"), policy=replace(POLICY, rulebook=rulebook(Rule("allow"))))
    scope, count = Scope(allowed=frozenset({NAME})), amount(43, "look-alikes")

    async def calling() -> None:
        for name in {*look_alikes(NAME, count), *look_alikes("tool", count)} - {NAME, "tool"}:
            outcome = await shop.door.execute(Call(name), Caller("ann", scope))
            assert outcome.error, name

    asyncio.run(calling())
    assert not shop.reached


@pytest.mark.plan(44)
def test_two_hundred_calls_at_once_spend_one_ticket_once():
    shop = Shop(offered("pay", "dangerous"))

    async def calling() -> int:
        asked = await shop.door.execute(Call("pay", {"sum": 1}), ANN)
        assert asked.error
        assert shop.door.tickets.approve(asked.error.ticket)
        calls = [shop.door.execute(Call("pay", {"sum": 1}), ANN) for _ in range(200)]
        return sum(outcome.ok for outcome in await asyncio.gather(*calls))

    assert asyncio.run(calling()) == len(shop.reached) == 1


@pytest.mark.plan(46)
@pytest.mark.parametrize("gate", ["resolve", "check_state", "check_rights", "copy_arguments"])
@pytest.mark.parametrize("error", [OSError("gone"), RecursionError(), MemoryError(), KeyError("x")])
def test_whatever_gate_fails_the_door_stays_shut(gate, error, monkeypatch: pytest.MonkeyPatch):
    shop = Shop()

    def broken(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(f"toolcrib.execute.door.{gate}", broken)
    outcome = asyncio.run(shop.door.execute(Call("look"), ANN))
    assert outcome.error
    assert (outcome.error.code, outcome.error.effect) == ("door_failed", "not_sent")
    assert not shop.reached
