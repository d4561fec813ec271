import asyncio
from dataclasses import replace

import pytest

from tests.defaults import rulebook
from tests.execute.counting import CountingSource, offered
from toolcrib.execute import (
    ApprovalRequest,
    Approver,
    Caller,
    CallRefused,
    DenyingApprover,
    Rule,
    Tickets,
)
from toolcrib.execute.approval import Approval
from toolcrib.model import Entry, PermissionKind
from toolcrib.pool import Pool
from toolcrib.store import TicketFile

REQUEST = ApprovalRequest.of("ann", offered("mcp_github_pay", "dangerous"), {"sum": 5})


def entry_of(bare: str, kind: PermissionKind = "write", server: str = "github") -> Entry:
    pool = Pool()
    pool.add(CountingSource(replace(offered(bare, kind), source_id=server)))
    [entry] = pool.entries.values()
    return entry


PAY = entry_of("pay", "dangerous")


def granted(*rules: Rule, approver: Approver | None = None, tickets: Tickets | None = None) -> str:
    """The code of the refusal; empty if there is leave."""
    approval = Approval(rulebook(*rules), tickets or Tickets())
    verdict = approval.verdict(PAY, Caller("ann"))
    try:
        asyncio.run(approval.grant(verdict, REQUEST, approver))
    except CallRefused as refused:
        return refused.error.code
    return ""


def answering(answer: object) -> Approver:
    async def approver(_request: ApprovalRequest, /) -> bool:
        if isinstance(answer, BaseException):
            raise answer
        return answer  # pyright: ignore[reportReturnType]

    return approver


def test_only_true_is_leave():
    assert granted(approver=answering(True)) == ""
    for answer in (False, 1, "yes", object()):
        assert granted(approver=answering(answer)) == "approval_denied"


def test_where_nobody_answers_the_operator_is_asked_by_a_ticket():
    tickets = Tickets()
    assert granted(approver=answering(None), tickets=tickets) == "approval_needed"
    [ticket] = tickets.waiting()
    assert tickets.approve(ticket.id)
    assert granted(approver=answering(None), tickets=tickets) == ""
    assert granted(approver=answering(None), tickets=tickets) == "approval_needed"


def test_what_the_operator_has_approved_is_not_asked_for_again():
    tickets = Tickets()
    assert granted(approver=answering(None), tickets=tickets) == "approval_needed"
    assert tickets.approve(tickets.waiting()[0].id)
    assert granted(approver=answering(False), tickets=tickets) == ""
    assert granted(approver=answering(False), tickets=tickets) == "approval_denied"


def test_no_ticket_gives_leave_to_what_a_person_has_refused():
    tickets = Tickets()
    assert granted(tickets=tickets) == "approval_needed"
    assert tickets.approve(tickets.waiting()[0].id)
    assert granted(approver=DenyingApprover(), tickets=tickets) == "approval_denied"
    assert granted(Rule("allow"), approver=DenyingApprover(), tickets=tickets) == "approval_denied"
    assert granted(tickets=tickets) == ""


@pytest.mark.parametrize("error", [RuntimeError("no"), TimeoutError(), KeyError("x")])
def test_an_approver_that_fails_gives_no_leave(error: Exception):
    assert granted(approver=answering(error)) == "approval_failed"


def test_an_approver_that_never_answers_gives_no_leave(monkeypatch: pytest.MonkeyPatch):
    async def silent(_request: ApprovalRequest, /) -> bool:
        await asyncio.sleep(600)
        return True

    monkeypatch.setattr(TicketFile, "LIFETIME_S", 0.02)
    assert granted(approver=silent) == "approval_failed"


def test_an_approver_sees_the_very_call():
    seen: list[ApprovalRequest] = []

    async def looking(request: ApprovalRequest, /) -> bool:
        seen.append(request)
        return True

    assert granted(approver=looking) == ""
    assert seen == [REQUEST]


def test_nobody_is_asked_about_what_is_allowed_or_denied():
    assert granted(Rule("allow"), approver=answering(RuntimeError())) == ""
    assert granted(Rule("deny"), approver=answering(True)) == "approval_denied"


def test_without_an_approver_a_ticket_is_drawn_and_approving_it_is_leave_for_one_call():
    tickets = Tickets()
    assert granted(tickets=tickets) == "approval_needed"
    [ticket] = tickets.waiting()
    assert tickets.approve(ticket.id)
    assert granted(tickets=tickets) == ""
    assert granted(tickets=tickets) == "approval_needed"


def test_a_ticket_does_not_open_what_the_rules_deny():
    tickets = Tickets()
    assert granted(tickets=tickets) == "approval_needed"
    assert tickets.approve(tickets.waiting()[0].id)
    assert granted(Rule("deny"), tickets=tickets) == "approval_denied"
