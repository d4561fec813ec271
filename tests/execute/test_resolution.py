import asyncio

import pytest

from tests.execute.counting import ANN, Shop
from tests.execute.test_door import execute, refusal
from toolcrib.access import Scope
from toolcrib.errors import DeclarationError, NameTaken
from toolcrib.execute import ApprovalRequest, Caller, CallRefused, per_request_tools
from toolcrib.execute.resolution import resolve
from toolcrib.model import Call
from toolcrib.sources import tool


def mine() -> int:
    return 1


async def yes(_request: ApprovalRequest, /) -> bool:
    return True


def test_a_tool_of_this_request_takes_the_place_of_one_in_the_pool():
    def mcp_shop_look() -> str:
        """To look closer."""
        return "closer"

    shop = Shop()
    with per_request_tools(mcp_shop_look):
        assert execute(shop.door, Call("mcp_shop_look"), approver=yes).content == "closer"
        assert execute(shop.door, Call("look")).content == "done"
    assert execute(shop.door, Call("mcp_shop_look")).content == "done"


def test_a_tool_of_this_request_passes_the_same_gates():
    @tool(approval="ask")
    def sell(price: int) -> int:
        return price

    shop = Shop()
    with per_request_tools(sell):
        assert refusal(execute(shop.door, Call("sell", {"price": 1}))).code == "approval_needed"
        assert refusal(execute(shop.door, Call("sell", {}), approver=yes)).code == "bad_arguments"
        nobody = Caller("ann", Scope(allowed=frozenset()))
        assert refusal(execute(shop.door, Call("sell", {"price": 1}), nobody)).code == "not_allowed"
    assert refusal(execute(shop.door, Call("sell", {"price": 1}))).code == "unknown_tool"


def test_tools_of_one_request_are_not_those_of_another():
    shop = Shop()

    async def with_tools(has: asyncio.Event, done: asyncio.Event) -> bool:
        with per_request_tools(mine):
            has.set()
            await done.wait()
            return (await shop.door.execute(Call("mine"), ANN, approver=yes)).ok

    async def without(has: asyncio.Event, done: asyncio.Event) -> bool:
        await has.wait()
        try:
            return (await shop.door.execute(Call("mine"), ANN, approver=yes)).ok
        finally:
            done.set()

    async def both() -> tuple[bool, bool]:
        events = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(with_tools(*events), without(*events))

    assert tuple(asyncio.run(both())) == (True, False)


def test_a_function_that_cannot_be_a_tool_is_refused_before_the_request():
    with pytest.raises(DeclarationError), per_request_tools(lambda: 1):
        pass
    with pytest.raises(NameTaken), per_request_tools(mine, mine):
        pass


def test_the_tools_are_gone_when_the_request_fails():
    shop = Shop()
    with pytest.raises(ZeroDivisionError), per_request_tools(mine):
        raise ZeroDivisionError
    with pytest.raises(CallRefused):
        resolve("mine", shop.pool, ANN)
