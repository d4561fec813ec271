"""Replies of clients of the modern era, raw: also what the SDK's client would not send."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import MCPError
from mcp.server.runner import modern_on_request
from mcp.shared.direct_dispatcher import create_direct_dispatcher_pair

from tests.gateway.fake_servers import Front, add_fake, crib_at
from tests.waiting import HANG_S
from toolcrib import Crib
from toolcrib.gateway import input_requests
from toolcrib.gateway.principal import Principal

ABLE: Any = {"elicitation": {"form": {}}, "sampling": {}, "roots": {}}
ANN = {"elicits": {"action": "accept", "content": {"name": "Ann"}}}


@pytest.fixture(scope="module")
def crib(tmp_path_factory) -> Iterator[Crib]:
    with crib_at(tmp_path_factory.mktemp("rounds")) as crib:
        add_fake(crib, "fake", "asks", "modern", sampling=True)
        yield crib


class Wire:
    """Raw requests of the modern era to one front."""

    def __init__(self, crib: Crib, principal: str = "ann") -> None:
        self.front = Front(crib, Principal(principal))

    async def __call__(self, name: str = "elicits", able: Any = ABLE, **params: Any) -> Any:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": able,
        }
        mine, theirs = create_direct_dispatcher_pair()
        handle = modern_on_request(self.front.server, {})
        running = [
            asyncio.ensure_future(theirs.run(handle, _nothing)),
            asyncio.ensure_future(mine.run(_refuse, _nothing)),
        ]
        await asyncio.sleep(0)
        body = {"name": f"mcp_fake_{name}", "arguments": {}, "_meta": meta} | params
        try:
            async with asyncio.timeout(HANG_S):
                return await mine.send_raw_request("tools/call", body)
        except MCPError as error:
            return error
        finally:
            mine.close()
            theirs.close()
            await asyncio.wait(running)


async def _nothing(*_args: Any) -> None:
    pass


async def _refuse(*_args: Any) -> Any:
    raise AssertionError(_args)


def text_of(result: Any) -> str:
    return result["content"][0]["text"]


def run(crib: Crib, test: Any, principal: str = "ann") -> Any:
    async def with_wire() -> Any:
        wire = Wire(crib, principal)
        try:
            return await test(wire)
        finally:
            wire.front.input_requests.close()

    return asyncio.run(with_wire())


def test_a_question_comes_with_its_key_and_a_reply_goes_on_where_it_was(crib):
    async def test(wire):
        first = await wire()
        return first, await wire(inputResponses=ANN, requestState=first["requestState"])

    first, last = run(crib, test)
    assert first["resultType"] == "input_required"
    assert first["inputRequests"]["elicits"]["method"] == "elicitation/create"
    assert '"name": "Ann"' in text_of(last)


def test_a_state_is_good_once_for_one_request_and_one_principal(crib):
    async def test(wire):
        bob = Wire(crib, "bob")
        state = (await wire())["requestState"]
        wrong = [
            await wire(inputResponses=ANN, requestState=state + "-TAMPERED"),
            await wire(inputResponses=ANN, requestState=state, arguments={"words": "other"}),
            await wire("samples", inputResponses=ANN, requestState=state),
            await bob(inputResponses=ANN, requestState=state),
        ]
        right = await wire(inputResponses=ANN, requestState=state)
        return [*wrong, await wire(inputResponses=ANN, requestState=state)], right

    wrong, right = run(crib, test)
    assert [each.code for each in wrong] == [-32602] * 5
    assert "Ann" in text_of(right)


def test_what_is_not_replied_to_is_asked_again(crib):
    async def test(wire):
        first = await wire("several")
        some = await wire("several", inputResponses=ANN, requestState=first["requestState"])
        return first, some

    first, some = run(crib, test)
    assert set(first["inputRequests"]) == {"elicits", "samples", "wants_roots"}
    assert set(some["inputRequests"]) == {"samples", "wants_roots"}
    assert some["requestState"] != first["requestState"]


def test_what_is_given_before_it_is_asked_will_do_and_more_does_no_harm(crib):
    async def test(wire):
        more = {"unasked": {"action": "accept", "content": {}}}
        return await wire(inputResponses=ANN | more)

    assert "Ann" in text_of(run(crib, test))


def test_what_a_client_has_not_declared_is_an_error_only_if_the_server_says_so(crib):
    async def test(wire):
        names = ("needs_model", "samples", "wants_roots", "elicits")
        return [await wire(name, {}) for name in names]

    missing, *others = run(crib, test)
    assert missing.code == -32021
    assert missing.data == {"requiredCapabilities": {"sampling": {}}}
    assert [each["resultType"] for each in others] == ["complete"] * 3
    assert ["isError" in each for each in others] == [False] * 3


def test_of_too_many_that_wait_the_oldest_is_given_up(crib, monkeypatch):
    monkeypatch.setattr(input_requests, "MOST_SUSPENDED", 2)

    async def test(wire):
        states = [(await wire())["requestState"] for _ in range(3)]
        return [await wire(inputResponses=ANN, requestState=state) for state in states]

    oldest, *others = run(crib, test)
    assert oldest.code == -32602
    assert ["Ann" in text_of(each) for each in others] == [True, True]
