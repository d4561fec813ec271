"""Tools of one request are found and listed by the model that they are for, and by no other."""

import asyncio

import pytest

from tests.session.deck import crib_of, plenty
from tests.workshop import mcp
from toolcrib import Caller, Crib, Scope, per_request_tools
from toolcrib.adapters.openai_chat import ChatWire
from toolcrib.model import ToolInfo

SEND = ToolInfo(name="send_parcel", description="Send a parcel to a customer", source="builtin")


def look_up_order(number: int) -> str:
    """Look up an order of this customer."""
    return f"order {number}: on its way"


@pytest.fixture
def crib() -> Crib:
    return crib_of((*plenty(), SEND))


def found(crib: Crib, text: str, **more: object) -> list[str]:
    return [hit.name for hit in crib.search(text, **more)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["look up the order of a customer", "select:look_up_order", "/order/", "+order look"]
)
def test_every_form_of_a_query_finds_them_as_long_as_the_request_lasts(crib: Crib, text: str):
    with per_request_tools(look_up_order):
        answer = crib.search(text)
        assert answer[0].name == "look_up_order"
        assert answer.confidence in {"high", "medium"}
        assert not answer.missing
        assert answer[0].schema
    assert "look_up_order" not in found(crib, text)


def test_what_the_pool_has_is_found_beside_them(crib: Crib):
    with per_request_tools(look_up_order):
        assert found(crib, "send a parcel to the customer")[0] == "send_parcel"
        both = crib.search("select:look_up_order,send_parcel,no_such_tool")
        assert {hit.name for hit in both} == {"look_up_order", "send_parcel"}
        assert list(both.missing) == ["no_such_tool"]
        assert not crib.search("qwertyuiop")
        assert found(crib, "look up the order of a customer", limit=1) == ["look_up_order"]
        assert not found(crib, "order", kinds=["skill"])


def test_a_caller_who_may_not_call_them_neither_finds_nor_sees_them(crib: Crib):
    nobody = Caller("ann", Scope(allowed=frozenset({"send_*"})))
    bound = crib.session(bound=["look_up_order"])
    with per_request_tools(look_up_order):
        assert "look_up_order" not in found(crib, "look up an order", caller=nobody)
        for session in (crib.session(caller=nobody), bound):
            assert "look_up_order" not in [tool.name for tool in session.active_tools()]


def test_a_session_lists_them_whole_before_its_search_tool_and_calls_them(crib: Crib):
    session = crib.session("thread")
    with per_request_tools(look_up_order):
        tools = session.active_tools()
        assert [tool.name for tool in tools] == ["look_up_order", "tool_search"]
        assert tools[0].parameters["required"] == ["number"]
        result = session.search("look up the order of a customer")
        assert "look_up_order(number" in result.text(1_500)
        outcome = asyncio.run(session.call("look_up_order", {"number": 7}))
    assert outcome.content == "order 7: on its way"
    assert "look_up_order" not in [tool.name for tool in session.active_tools()]


def test_one_stands_in_the_place_of_its_namesake(crib: Crib):
    def send_parcel(order: int) -> str:
        """Send the parcel of an order of this customer."""
        return f"sent {order}"

    session = crib.session("thread")
    session.search("select:send_parcel")
    with per_request_tools(send_parcel):
        assert [tool.name for tool in session.active_tools()] == ["send_parcel", "tool_search"]
        assert "order" in session.active_tools()[0].parameters["properties"]  # type: ignore[operator]
        assert found(crib, "send a parcel").count("send_parcel") == 1
        assert asyncio.run(session.call("send_parcel", {"order": 3})).content == "sent 3"
    assert [tool.name for tool in session.active_tools()] == ["tool_search", "send_parcel"]


def test_where_nothing_is_deferred_a_wire_sends_them_with_the_rest():
    crib = crib_of((mcp("post", "list_stamps", "List all stamps"),))
    wire = ChatWire(crib.session())
    with per_request_tools(look_up_order):
        sent = wire.request([{"role": "user", "content": "Hi"}]).get("tools", [])
    names = [tool["function"]["name"] for tool in sent]
    assert names == ["mcp_post_list_stamps", "look_up_order"]
