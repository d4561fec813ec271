"""What the log has of clients: they come and go, list, search, are shown tools and call them."""

import asyncio
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.defaults import RETENTION
from tests.gateway.clients import ANN, ERAS, Era, connected
from toolcrib.crib import Crib, events_of
from toolcrib.gateway import client_events
from toolcrib.gateway.server import GatewayServer
from toolcrib.model import Event
from toolcrib.settings import Settings
from toolcrib.store import EventFile
from toolcrib.text import tokens

SHOWN_SET = "toolcrib/set"


def many_tools(number: int = 40) -> Crib:
    crib = Crib(Settings.model_validate({"store": ":memory:", "embed": {"embedder": "none"}}))

    def send_invoice(to: str) -> str:
        """Send an invoice to a customer by mail."""
        return f"sent to {to}"

    crib.add(send_invoice, permission_kind="read")
    for each in range(number):

        def count_sheep() -> str:
            """Count sheep in a meadow."""
            return "many"

        crib.add(count_sheep, name=f"count_sheep_{each}", permission_kind="read")
    return crib


@pytest.fixture
def crib(tmp_path: Path) -> Iterable[Crib]:
    opened = many_tools()
    opened._stages.events._open_file = partial(EventFile, tmp_path / "events.db", RETENTION)
    opened._stages.events._is_heard = True
    yield opened
    opened.close()


def number(event: Event, fact: str) -> int:
    value = event.facts[fact]
    assert isinstance(value, int)
    return value


def logged(crib: Crib, folder: Path) -> list[Event]:
    """All events, once the crib is closed."""
    crib.close()
    file = EventFile(folder / "events.db", RETENTION)
    try:
        return list(file.after(0, 1_000).values())
    finally:
        file.close()


async def search_and_call(server: GatewayServer, era: Era) -> None:
    async with connected(server, era, name="cursor") as client:
        await client.list_tools()
        found: Any = await client.call_tool("tool_search", {"query": "mail an invoice"})
        handle = found.meta[SHOWN_SET]
        request = {"name": "send_invoice", "arguments": {"to": "a"}, "set": handle}
        await client.call_tool("tool_call_read", request)
        await client.call_tool("tool_search", {"query": "mail an invoice", "set": handle})


@pytest.mark.parametrize("era", ERAS)
def test_what_a_client_does_is_one_conversation(crib: Crib, tmp_path: Path, era: Era):
    asyncio.run(search_and_call(GatewayServer(crib, ANN), era))
    events = logged(crib, tmp_path)
    assert {(each.client, each.caller) for each in events} == {("cursor", "ann@default")}
    used = [each for each in events if each.kind in ("search", "reveal", "call")]
    assert [each.kind for each in used] == ["search", "reveal", "call", "search"]
    assert len({each.conversation for each in used}) == 1
    assert used[0].conversation
    (reveal,) = [each for each in events if each.kind == "reveal"]
    assert "send_invoice" in str(reveal.facts["tools"])
    assert number(reveal, "tokens") > 20
    clients = [each for each in events if each.kind == "client"]
    assert [each.code for each in clients] == (["connected", "left"] if era == "legacy" else [])
    assert all(each.facts["version"] == "1" for each in clients)


@pytest.mark.parametrize("era", ERAS)
def test_a_list_tells_what_was_sent_and_what_all_would_have_cost(
    crib: Crib, tmp_path: Path, era: Era, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(client_events, "MOST_COUNTED", 30 if era == "legacy" else 4_000)
    asyncio.run(search_and_call(GatewayServer(crib, ANN), era))
    listed = next(each for each in logged(crib, tmp_path) if each.kind == "list")
    facts = listed.facts
    assert (facts["tools"], facts["of"], facts["mode"]) == (5, 41, "search")
    assert number(listed, "eager") > 500
    assert number(listed, "sent") > 500
    assert not tokens._encoder.cache_info().currsize  # it is large, and lists are few
    assert str(facts["how"]).startswith("21 of them " if era == "legacy" else ("co", "es"))


def test_a_crib_without_a_log_counts_nothing(monkeypatch: pytest.MonkeyPatch):
    crib = many_tools()
    server = GatewayServer(crib, ANN)
    monkeypatch.setattr(server._events._prices, "facts", pytest.fail)
    asyncio.run(search_and_call(server, "legacy"))
    assert events_of(crib).dropped == 0
    crib.close()


def test_two_conversations_are_two(crib: Crib, tmp_path: Path):
    async def both() -> None:
        server = GatewayServer(crib, ANN)
        for era in ERAS:
            await asyncio.gather(search_and_call(server, era), search_and_call(server, era))

    asyncio.run(both())
    events = [each for each in logged(crib, tmp_path) if each.kind == "call"]
    assert len({each.conversation for each in events}) == 4
