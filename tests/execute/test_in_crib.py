"""Calls as the users of a crib make them."""

import asyncio

from toolcrib import Caller, Crib, Scope, Settings
from toolcrib.sections import ApprovalRule, ApprovalSettings, CallSettings, SearchSettings


def double(n: int) -> int:
    return 2 * n


def test_a_function_is_called_as_soon_as_it_was_added():
    crib = Crib()
    crib.add(double, permission_kind="read")
    assert asyncio.run(crib.call("double", {"n": 2})).content == 4
    assert asyncio.run(crib.call("double", '{"n": 3}')).content == 6


def test_the_settings_rule():
    rules = (ApprovalRule(verdict="allow", pattern="dou*"),)
    crib = Crib(
        Settings(
            store=":memory:",
            approval=ApprovalSettings(rules=rules),
            call=CallSettings(page_tokens=5),
        )
    )
    crib.add(double, permission_kind="dangerous")
    crib.add(lambda: "0123456789" * 2, name="double_long")
    assert asyncio.run(crib.call("double", {"n": 2})).content == 4
    assert asyncio.run(crib.call("double_long")).content == "0123456789" * 2
    first = asyncio.run(crib.call("double_long", paged=True))
    second = crib.result(first.handle, page=2)
    assert (first.content, second.content) == ("012345678901234", "56789")


def test_what_is_internal_cannot_be_called_by_anyone():
    crib = Crib(Settings(store=":memory:", search=SearchSettings(internal=("double",))))
    crib.add(double, permission_kind="read")
    for caller in (Caller("ann"), Caller("ann", Scope(allowed=frozenset({"double"})))):
        error = asyncio.run(crib.call("double", {"n": 2}, caller=caller)).error
        assert error
        assert error.code == "not_allowed"


def test_the_host_itself_calls_when_nobody_is_named():
    crib = Crib()
    crib.add(double)
    asyncio.run(crib.call("double", {"n": 2}))
    assert [ticket.request.caller for ticket in crib.tickets.waiting()] == ["host"]


def test_a_question_is_told_without_a_call():
    crib = Crib()
    crib.add(double)
    crib.add(double, name="twice", permission_kind="read")
    asked = crib.question("double", {"n": 2}, caller=Caller("ann"))
    assert asked
    assert (asked.caller, asked.name, asked.arguments) == ("ann", "double", {"n": 2})
    assert crib.question("twice", {"n": 2}) is None
    assert crib.question("no_such_tool", {}) is None
    assert not crib.tickets.waiting()
