"""Rules and approvals at a running gateway: real programs, clients of both eras, both doors."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Generator
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client
from mcp_types import ElicitRequestParams, ElicitResult

from tests.e2e.gateway.conftest import PROFILE, SEARCH
from tests.e2e.gateway.running import Gateway, gateway_over
from tests.e2e.gateway.visits import ERAS, Door, python_client
from tests.sources.mcp.faking import FAKE, nothing_left
from tests.waiting import HANG_S

SERVER = {"command": sys.executable, "args": ["-S", str(FAKE)]}
AT_ONCE = "[approval]\nwait_s = 0\n"
LISTED = "listed"
DIRECT = f'[gateway.profiles.{LISTED}]\nmode = "direct"\n'

Call = Callable[[], Awaitable[str]]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[Gateway]:
    made = gateway_over(
        tmp_path_factory.mktemp("gateway"), {"fake": SERVER}, PROFILE + DIRECT + AT_ONCE
    )
    with nothing_left(), made as gateway, gateway.daemon():
        yield gateway


@pytest.fixture
def gateway(running: Gateway) -> Gateway:
    """The same daemon for all, as it is without rules."""
    (running.folder / ".config" / "toolcrib" / "rules.json").unlink(missing_ok=True)
    return running


def calling(client: Client) -> Call:
    """What becomes of a call that nobody else makes: the code of its error, or nothing."""
    given = {"name": "mcp_fake_echo", "arguments": {"text": uuid4().hex}}

    async def call() -> str:
        result = await client.call_tool("tool_call", given)
        said: Any = result.structured_content if result.is_error else None
        return said["error"]["code"] if said else ""

    return call


def visit(door: Door, era: str, doing: Callable[[Call], Awaitable[None]], **options: Any) -> None:
    async def run() -> None:
        async with python_client(door, era, **options) as client:
            await doing(calling(client))

    asyncio.run(run())


def door_of(gateway: Gateway, way: str) -> Door:
    return gateway.connect("--profile", SEARCH) if way == "shim" else gateway.http(SEARCH)


@pytest.mark.parametrize("way", ["shim", "http"])
@pytest.mark.parametrize("era", ERAS)
def test_a_rule_counts_at_once_and_a_ticket_that_is_approved_lets_the_call_through(
    gateway: Gateway, era: str, way: str
):
    async def told(*words: str) -> str:
        return await asyncio.to_thread(gateway.run, *words)

    async def doing(call: Call) -> None:
        assert await call() == ""
        await told("deny", "fake/echo")
        assert await call() == "approval_denied"
        await told("ask", "fake/echo", "--profile", SEARCH)
        assert await call() == "approval_denied"
        await told("rules", "remove", "1")
        assert await call() == "approval_needed"
        for each in json.loads(await told("approvals", "--json")):
            await told("approvals", "allow", each["id"][:6])
        assert await call() == ""
        assert await call() == "approval_needed"
        await told("allow", "fake/echo", "--profile", SEARCH)
        assert await call() == ""

    visit(door_of(gateway, way), era, doing)


@pytest.mark.parametrize("era", ERAS)
def test_the_person_at_the_client_is_asked_before_the_operator(gateway: Gateway, era: str):
    answers = ["accept", "decline", "cancel"]

    async def person(_context: Any, params: ElicitRequestParams) -> ElicitResult:
        assert "mcp_fake_echo" in params.message
        return ElicitResult(action=answers.pop(0))  # type: ignore[arg-type]

    async def doing(call: Call) -> None:
        assert [await call() for _ in range(3)] == ["", "approval_denied", "approval_needed"]

    gateway.run("ask", "fake")
    visit(gateway.connect("--profile", SEARCH), era, doing, elicitation_callback=person)
    assert not answers
    assert "mcp_fake_echo" in gateway.run("approvals")


@pytest.mark.parametrize("era", ERAS)
def test_whoever_comes_with_a_key_does_not_approve_their_own_calls(gateway: Gateway, era: str):
    async def themselves(_context: Any, _params: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="accept")

    async def doing(call: Call) -> None:
        assert await call() == "approval_needed"

    gateway.run("ask", "fake")
    visit(gateway.http(SEARCH), era, doing, elicitation_callback=themselves)
    assert "mcp_fake_echo" in gateway.run("approvals")


def test_a_client_that_has_listed_is_told_that_a_rule_takes_a_tool_away(gateway: Gateway):
    async def run() -> None:
        told: asyncio.Queue[str] = asyncio.Queue()

        async def hear(message: Any) -> None:
            told.put_nowait(getattr(message, "method", ""))

        door = gateway.connect("--profile", LISTED)
        async with python_client(door, "legacy", message_handler=hear) as client:
            before = {each.name for each in (await client.list_tools()).tools}
            await asyncio.to_thread(gateway.run, "deny", "fake/echo")
            while await told.get() != "notifications/tools/list_changed":
                pass
            after = {each.name for each in (await client.list_tools()).tools}
        assert before - after == {"mcp_fake_echo"}

    asyncio.run(asyncio.wait_for(run(), HANG_S))
