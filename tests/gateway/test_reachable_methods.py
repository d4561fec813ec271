"""What a client can reach: every method there is, and none that decides anything."""

from typing import Any

import pytest
from mcp_types import methods

from tests.gateway.clients import ERAS, Era, Workshop, asked, connected, error_of
from toolcrib.gateway.fixed_tool_definitions import FIXED_TOOLS

SERVED = {
    "completion/complete",
    "initialize",  # the SDK's own, before any handler
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
}
WORDS = ("approve", "approval", "review", "add", "remove", "edit", "quarantine", "trust", "ticket")


@pytest.mark.plan(45)
def test_every_method_that_is_served_is_known_here():
    server = Workshop().server().mcp_server
    every = {*methods.SPEC_CLIENT_METHODS, *methods.SPEC_CLIENT_NOTIFICATION_METHODS}
    served = {method for method in every if server.get_request_handler(method)}
    assert served | {"initialize"} == SERVED
    assert set(server._request_handlers) == SERVED - {"initialize"}
    assert server._notification_handlers == {}


@pytest.mark.plan(45)
@pytest.mark.parametrize("era", ERAS)
def test_nothing_over_the_protocol_approves_or_changes_anything(era: Era):
    """With the ticket in hand, by every tool and under every name, it stays waiting."""
    shop = Workshop()
    entries = shop.crib.entries()

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            given: dict[str, Any] = {"name": "mcp_shop_cancel_order", "arguments": {}}
            ticket = error_of(await client.call_tool("tool_call", given))["ticket"]
            tries: list[tuple[str, dict[str, Any]]] = [
                (tool, {**given, "ticket": ticket, "approved": True, "set": "", "yes": True})
                for tool in FIXED_TOOLS
            ]
            tries += [(word, {"ticket": ticket, "id": ticket}) for word in WORDS]
            tries += [("tool_call", {"name": word, "arguments": {"id": ticket}}) for word in WORDS]
            tries += [("tool_result", {"handle": ticket, "page": 1})]
            for name, arguments in tries:
                await client.call_tool(name, arguments)
            assert [each.id for each in shop.crib.operator.tickets.waiting()].count(ticket) == 1

    asked(run)
    assert shop.source.reached == []
    assert shop.crib.entries() is entries


def test_no_fixed_tool_is_about_deciding():
    assert not [name for name in FIXED_TOOLS if any(word in name for word in WORDS)]
