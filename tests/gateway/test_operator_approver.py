"""A call that needs the operator is held, and what ends that: an answer, time, or its client."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.gateway.clients import ERAS, Era, Workshop, asked, connected, error_of, shop_tools, words
from tests.gateway.daemons import INITIALIZE, call, request, rpc, serving, with_token
from tests.waiting import HANG_S, until_async
from toolcrib.crib import inventory_of
from toolcrib.execute import Ticket
from toolcrib.gateway import keys_in, operator_approver
from toolcrib.gateway import server as server_module
from toolcrib.gateway.operator_approver import MOST_OF_ONE, HeldCalls
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.server import GatewayServer, GatewayServers
from toolcrib.settings import ApprovalRule, ApprovalSettings

CANCEL = "mcp_shop_cancel_order"


class Shop(Workshop):
    """One with a call that waits, and somebody who answers."""

    def __init__(self, wait_s: float = 2 * HANG_S) -> None:
        super().__init__(*shop_tools(), approval=ApprovalSettings(wait_s=wait_s))
        self.tickets = self.crib.operator.tickets
        self.reports: list[str] = []

    async def waiting(self, count: int = 1) -> Ticket:
        """The last ticket, when there are so many."""

        def all_wait() -> list[Ticket]:
            found = [*self.tickets.waiting()]
            return found if len(found) == count else []

        return (await until_async(all_wait, f"{count} calls wait"))[-1]

    def redefine(self) -> None:
        """From now on the tool is another."""
        tools = self.source.tools
        tools["cancel_order"] = replace(tools["cancel_order"], description="Another one")
        inventory_of(self.crib).pool.refresh(self.source)

    def deny(self) -> None:
        """From now on a rule denies it."""
        rules = (ApprovalRule(verdict="deny", pattern="shop/cancel_*"),)
        changed = self.crib.settings.model_copy(update={"approval": ApprovalSettings(rules=rules)})
        assert self.crib.operator.take_settings(changed)

    async def call(self, client: Client, number: int = 7) -> Any:
        async def report(progress: float, total: float | None, message: str | None) -> None:
            assert (progress < 1, total) == (True, None)
            self.reports.append(message or "")

        given = {"name": CANCEL, "arguments": {"number": number}}
        return await client.call_tool("tool_call", given, progress_callback=report)


def visit(
    shop: Shop, era: Era, doing: Callable[[Client], Awaitable[None]], server: Any = None
) -> None:
    async def run() -> None:
        async with connected(server or shop.server(), era) as client:
            await doing(client)

    asked(run)


@pytest.mark.plan(100)
@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_is_allowed_goes_on_and_the_next_one_waits_again(era: Era):
    shop = Shop()

    async def doing(client: Client) -> None:
        for calls in (1, 2):
            call = asyncio.create_task(shop.call(client))
            ticket = await shop.waiting()
            assert len(shop.source.reached) == calls - 1
            assert shop.tickets.approve(ticket.id)
            assert words(await call) == "done"
            assert len(shop.source.reached) == calls
            assert shop.tickets.state(ticket.id) == "gone"
        assert any(CANCEL in each and "operator's approval" in each for each in shop.reports)

    visit(shop, era, doing)


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_is_denied_ends_and_says_so(era: Era):
    shop = Shop()

    async def doing(client: Client) -> None:
        call = asyncio.create_task(shop.call(client))
        ticket = await shop.waiting()
        assert shop.tickets.reject(ticket.id)
        error = error_of(await call)
        assert (error["code"], error["effect"]) == ("approval_denied", "not_sent")
        assert "the operator did not approve" in error["message"]
        assert not shop.tickets.waiting()

    visit(shop, era, doing)
    assert not shop.source.reached


@pytest.mark.parametrize("era", ERAS)
def test_where_nobody_answers_the_ticket_waits_on(era: Era):
    shop = Shop(wait_s=0.1)

    async def doing(client: Client) -> None:
        error = error_of(await shop.call(client))
        assert error["code"] == "approval_needed"
        assert "make the same call again" in error["message"]
        assert (await shop.waiting()).id == error["ticket"]
        assert shop.tickets.approve(error["ticket"])
        assert words(await shop.call(client)) == "done"

    visit(shop, era, doing)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_cancels_waits_no_longer_and_its_ticket_stays(era: Era):
    shop = Shop()
    server = shop.server()

    async def doing(client: Client) -> None:
        call = asyncio.create_task(shop.call(client))
        ticket = await shop.waiting()
        call.cancel()
        await asyncio.wait({call})
        await until_async(lambda: not server._held._ends, "nothing is held")
        assert (await shop.waiting()).id == ticket.id
        assert shop.tickets.approve(ticket.id)
        assert words(await client.call_tool("tool_search", {"query": "order"}))

    visit(shop, era, doing, server)
    assert not shop.source.reached


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_hangs_up_waits_no_longer(era: Era):
    shop = Shop()
    server = shop.server()

    async def doing(client: Client) -> None:
        asyncio.create_task(shop.call(client)).add_done_callback(lambda call: call.exception())
        await shop.waiting()

    visit(shop, era, doing, server)
    assert not server._held._ends
    assert not shop.source.reached
    assert len(shop.tickets.waiting()) == 1


@pytest.mark.plan(37)
def test_what_changed_meanwhile_is_looked_at_again():
    shop = Shop()

    async def doing(client: Client) -> None:
        changes = ((shop.redefine, "definition_changed"), (shop.deny, "approval_denied"))
        for change, code in changes:
            call = asyncio.create_task(shop.call(client))
            ticket = await shop.waiting()
            change()
            assert shop.tickets.approve(ticket.id)
            assert error_of(await call)["code"] == code

    visit(shop, "legacy", doing)
    assert not shop.source.reached


@pytest.mark.plan(13)
def test_one_caller_holds_few_and_the_others_are_held_and_served():
    shop, held = Shop(), HeldCalls()

    async def run() -> None:
        servers = [GatewayServer(shop.crib, Principal(name), held=held) for name in ("a", "b")]
        async with connected(servers[0]) as one, connected(servers[1]) as other:
            calls = [asyncio.create_task(shop.call(one, each)) for each in range(MOST_OF_ONE)]
            await shop.waiting(MOST_OF_ONE)
            more = error_of(await shop.call(one, 99))
            assert more["code"] == "approval_needed"
            assert not any(call.done() for call in calls)
            assert words(await one.call_tool("tool_search", {"query": "order"}))
            theirs = asyncio.create_task(shop.call(other, 1))
            ticket = await shop.waiting(MOST_OF_ONE + 2)
            assert shop.tickets.approve(ticket.id)
            assert words(await theirs) == "done"
            for each in shop.tickets.waiting():
                shop.tickets.reject(each.id)
            assert {error_of(await call)["code"] for call in calls} == {"approval_denied"}

    asked(run)
    assert not held._ends
    assert not held._by_caller


def test_of_two_calls_that_are_the_same_the_newer_is_held():
    shop = Shop()

    async def doing(client: Client) -> None:
        older = asyncio.create_task(shop.call(client))
        ticket = await shop.waiting()
        newer = asyncio.create_task(shop.call(client))
        error = error_of(await older)
        assert (error["code"], error["ticket"]) == ("approval_needed", ticket.id)
        assert shop.tickets.approve(ticket.id)
        assert words(await newer) == "done"

    visit(shop, "legacy", doing)
    assert len(shop.source.reached) == 1


def test_a_ticket_that_expires_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    shop = Shop()
    monkeypatch.setattr(operator_approver, "LAST_S", 300.0)

    async def doing(client: Client) -> None:
        assert error_of(await shop.call(client))["code"] == "approval_needed"

    visit(shop, "legacy", doing)


def test_a_client_that_hangs_up_its_post_waits_no_longer(tmp_path: Path):
    shop = Shop()

    async def run() -> None:
        async with serving(tmp_path, crib=lambda: shop.crib, servers=GatewayServers) as served:
            daemon, (_, _, port, token) = served
            headers = with_token(token)
            opened = await request(port, headers=headers, body=rpc("initialize", **INITIALIZE))
            headers["mcp-session-id"] = opened.headers["mcp-session-id"]
            body = rpc("tools/call", 7, name="tool_call", arguments={"name": CANCEL})
            left = asyncio.create_task(request(port, headers=headers, body=body))
            ticket = await shop.waiting()
            held: HeldCalls = daemon.serving.servers._held  # type: ignore[attr-defined]
            assert held._ends
            left.cancel()
            await until_async(lambda: not held._ends, "nothing is held")
            assert shop.tickets.approve(ticket.id)
            assert shop.tickets.state(ticket.id) == "approved"

    asked(run)
    assert not shop.source.reached


@pytest.mark.parametrize("modern", [True, False])
def test_a_key_that_is_taken_back_ends_the_call_that_is_held(tmp_path: Path, modern: bool):
    shop = Shop()

    async def run() -> None:
        async with serving(tmp_path, crib=lambda: shop.crib, servers=GatewayServers) as served:
            daemon, (_, _, port, token) = served
            if modern:
                made = call(port, token, "tool_call", name=CANCEL)
            else:
                headers = with_token(token)
                opened = await request(port, headers=headers, body=rpc("initialize", **INITIALIZE))
                headers["mcp-session-id"] = opened.headers["mcp-session-id"]
                body = rpc("tools/call", 7, name="tool_call", arguments={"name": CANCEL})
                made = request(port, headers=headers, body=body)
            running = asyncio.create_task(made)
            ticket = await shop.waiting()
            held: HeldCalls = daemon.serving.servers._held  # type: ignore[attr-defined]
            await until_async(lambda: held._ends, "it is held")
            keys_in(shop.crib.settings.state_folder).remove("owner")
            await until_async(lambda: not held._ends, "nothing is held")
            assert shop.tickets.approve(ticket.id)
            answer = await running
            assert b"done" not in answer.body
            assert (await call(port, token, "tool_call", name=CANCEL)).status == 401

    asked(run)
    assert not shop.source.reached


def test_a_call_that_is_held_after_its_key_was_taken_back_is_not_made_either():
    shop = Shop()
    servers = GatewayServers(shop.crib)
    ann = Principal("key:ann")

    async def doing(client: Client) -> None:
        call = asyncio.create_task(shop.call(client))
        ticket = await shop.waiting()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(server_module, "MOST_SERVERS", 1)
            servers.of(Principal("key:bob"))  # the one that holds it had to go meanwhile
        servers.drop(frozenset({"key:ann"}))  # held already, or not yet
        assert shop.tickets.approve(ticket.id)
        error = error_of(await call)
        assert (error["code"], error["effect"]) == ("approval_denied", "not_sent")
        assert "works no longer" in error["message"]

    visit(shop, "legacy", doing, servers.of(ann))
    assert not shop.source.reached
