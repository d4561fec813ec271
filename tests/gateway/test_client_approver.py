"""Who is asked before a call that needs leave: the person at the client, then the operator."""

from typing import Any

import pytest
from mcp_types import ElicitRequestParams, ElicitResult

from tests.gateway.clients import ERAS, Era, Workshop, asked, connected, error_of, shop_tools, words
from toolcrib.execute import ApprovalRequest
from toolcrib.gateway.client_approver import LONGEST_SHOWN, question
from toolcrib.gateway.principal import LOCAL_USER, Principal
from toolcrib.settings import ApprovalSettings

CANCEL = "mcp_shop_cancel_order"
GIVEN = {"name": CANCEL, "arguments": {"number": 7}}


class Person:
    """Sits at a client, and answers what they are asked."""

    def __init__(self, action: str) -> None:
        self._action = action
        self.asked: list[str] = []

    async def __call__(self, _context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        return ElicitResult(action=self._action, content={} if self._action == "accept" else None)  # type: ignore[arg-type]


def shop_of(**approval: Any) -> Workshop:
    return Workshop(*shop_tools(), approval=ApprovalSettings(wait_s=0, **approval))


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("action", "code"),
    [("accept", ""), ("decline", "approval_denied"), ("cancel", "approval_needed")],
)
def test_the_person_at_the_client_is_asked_first(era: Era, action: str, code: str):
    shop, person = shop_of(), Person(action)

    async def run() -> None:
        async with connected(
            shop.server(Principal(LOCAL_USER)), era, elicitation_callback=person
        ) as client:
            result = await client.call_tool("tool_call", GIVEN)
            if code:
                assert error_of(result)["code"] == code
            else:
                assert words(result) == "done"

    asked(run)
    [said] = person.asked
    assert CANCEL in said
    assert '"number": 7' in said
    assert len(shop.source.reached) == (0 if code else 1)
    assert len(shop.crib.operator.tickets.waiting()) == (code == "approval_needed")


@pytest.mark.parametrize("era", ERAS)
def test_where_the_client_cannot_be_asked_the_operator_is(era: Era):
    shop = shop_of()

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            refused = error_of(await client.call_tool("tool_call", GIVEN))
            assert refused["code"] == "approval_needed"
            assert shop.crib.operator.tickets.approve(refused["ticket"])
            assert words(await client.call_tool("tool_call", GIVEN)) == "done"

    asked(run)


@pytest.mark.parametrize("era", ERAS)
def test_whoever_dismisses_the_question_can_still_have_it_approved_by_the_operator(era: Era):
    shop, person = shop_of(), Person("cancel")

    async def run() -> None:
        async with connected(
            shop.server(Principal(LOCAL_USER)), era, elicitation_callback=person
        ) as client:
            refused = error_of(await client.call_tool("tool_call", GIVEN))
            assert shop.crib.operator.tickets.approve(refused["ticket"])
            assert words(await client.call_tool("tool_call", GIVEN)) == "done"

    asked(run)
    assert len(person.asked) == 1
    assert len(shop.source.reached) == 1


@pytest.mark.parametrize(
    ("elicitation", "principal", "is_asked"),
    [
        ("all", "key:ann", True),
        ("local", "key:ann", False),
        ("local", LOCAL_USER, True),
        ("none", LOCAL_USER, False),
    ],
)
@pytest.mark.parametrize("era", ERAS)
def test_the_operator_says_which_clients_are_asked(
    era: Era, elicitation: str, principal: str, is_asked: bool
):
    shop, person = shop_of(elicitation=elicitation), Person("accept")

    async def run() -> None:
        server = shop.server(Principal(principal))
        async with connected(server, era, elicitation_callback=person) as client:
            result = await client.call_tool("tool_call", GIVEN)
            assert result.is_error is not is_asked

    asked(run)
    assert bool(person.asked) is is_asked
    assert bool(shop.source.reached) is is_asked


def test_nobody_is_asked_about_what_is_denied_or_allowed():
    denied, person = shop_of(rules=[{"verdict": "deny", "kind": "dangerous"}]), Person("accept")

    async def run() -> None:
        async with connected(denied.server(), elicitation_callback=person) as client:
            refused = error_of(await client.call_tool("tool_call", GIVEN))
            assert refused["code"] == "approval_denied"
            given = {"name": "mcp_shop_look_up_order", "arguments": {"number": 7}}
            assert words(await client.call_tool("tool_call_read", given)) == "done"

    asked(run)
    assert not person.asked


@pytest.mark.parametrize("era", ERAS)
def test_by_default_nobody_with_a_key_approves_their_own_call(era: Era):
    shop, person = shop_of(), Person("accept")

    async def run() -> None:
        server = shop.server(Principal("key:ann"))
        async with connected(server, era, elicitation_callback=person) as client:
            refused = error_of(await client.call_tool("tool_call", GIVEN))
            assert refused["code"] == "approval_needed"

    asked(run)
    assert not person.asked
    assert not shop.source.reached


@pytest.mark.parametrize("era", ERAS)
def test_what_cannot_be_shown_whole_is_left_to_the_operator(era: Era):
    """Nobody says yes to what they have not seen: not even to the end of a long list."""
    shop, person = shop_of(), Person("accept")
    given = {"name": CANCEL, "arguments": {"number": 7, "aaa": "x" * LONGEST_SHOWN}}

    async def run() -> None:
        async with connected(
            shop.server(Principal(LOCAL_USER)), era, elicitation_callback=person
        ) as client:
            refused = error_of(await client.call_tool("tool_call", given))
            assert refused["code"] == "approval_needed"

    asked(run)
    assert not person.asked
    [waiting] = shop.crib.operator.tickets.waiting()
    assert waiting.request.arguments == given["arguments"]


def test_what_is_hidden_in_the_arguments_is_spelt_out_and_counts_at_that_length():
    hidden = ApprovalRequest("ann", "pay", "", "write", {"to": "a\u202eb\x1b[31m"}, "p")
    asked_for = question(hidden)
    assert asked_for is not None
    assert "a⟨U+202E⟩b" in asked_for
    assert "\x1b" not in asked_for
    short = LONGEST_SHOWN // 4
    assert question(ApprovalRequest("ann", "pay", "", "write", "x" * short, "p"))
    assert question(ApprovalRequest("ann", "pay", "", "write", "\u202e" * short, "p")) is None
