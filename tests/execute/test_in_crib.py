"""Calls as the users of a crib make them."""

import asyncio
from pathlib import Path

import pytest

from toolcrib import Caller, Crib, Scope, Settings, tool
from toolcrib.crib import HOST
from toolcrib.errors import DeclarationError
from toolcrib.settings import ApprovalRule, ApprovalSettings, CallSettings, SearchSettings


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


def error_of(crib: Crib, name: str, caller: Caller = HOST) -> str:
    outcome = asyncio.run(crib.call(name, {"n": 2}, caller=caller))
    return outcome.error.code if outcome.error else ""


def test_a_function_of_the_program_needs_no_approval_unless_it_says_so():
    @tool(approval="ask")
    def carefully(n: int) -> int:
        return n

    crib = Crib()
    crib.add(double)
    crib.add(double, name="fetch", permission_kind="network")
    crib.add(double, name="drop", permission_kind="dangerous")
    crib.add(double, name="asks", approval="ask")
    crib.add(carefully)
    for caller in (HOST, Caller("ann")):
        assert error_of(crib, "double", caller) == error_of(crib, "fetch", caller) == ""
        for name in ("drop", "asks", "carefully"):
            assert error_of(crib, name, caller) == "approval_needed"


def test_a_tools_yaml_may_say_that_a_function_asks(tmp_path: Path):
    (tmp_path / "tools.py").write_text("def double(n: int) -> int:\n    return 2 * n\n")
    file = tmp_path / "tools.yaml"
    for said, code in (("{}", ""), ("{approval: ask}", "approval_needed")):
        file.write_text(f"double: {said}\n")
        modules = (str(tmp_path / "tools.py"),)
        settings = Settings(store=":memory:", plugins=False, tools=(file,), tool_modules=modules)
        with Crib.from_settings(settings) as crib:
            assert not crib.problems
            assert error_of(crib, "double") == code


@pytest.mark.parametrize("said", ["allow", "never", True])
def test_a_function_cannot_say_that_it_never_asks(said: object):
    with pytest.raises(DeclarationError, match="approval"):
        Crib().add(double, approval=said)  # type: ignore[arg-type]


def test_the_host_itself_calls_when_nobody_is_named():
    crib = Crib()
    crib.add(double, approval="ask")
    asyncio.run(crib.call("double", {"n": 2}))
    assert [ticket.request.caller for ticket in crib.operator.tickets.waiting()] == ["host"]


def test_a_question_is_told_without_a_call():
    crib = Crib()
    crib.add(double, approval="ask")
    crib.add(double, name="twice")
    asked = crib.question("double", {"n": 2}, caller=Caller("ann"))
    assert asked
    assert (asked.caller, asked.name, asked.arguments) == ("ann", "double", {"n": 2})
    assert crib.question("twice", {"n": 2}) is None
    assert crib.question("no_such_tool", {}) is None
    assert not crib.operator.tickets.waiting()
