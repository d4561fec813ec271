"""Who may call what without a person's leave, and how that leave is asked for.

Rules are tried in order and the first that matches decides. Where none does: a `read` is allowed,
and everything else is asked for. A pattern that can be read as the name of two tools (see
`names.patterns`) never gives leave to the one that it does not spell out, and never spares it a
denial.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from toolcrib.errors import ToolcribError
from toolcrib.execute.refusal import Refused
from toolcrib.execute.tickets import ApprovalRequest, Tickets
from toolcrib.model import Entry, PermissionKind
from toolcrib.names.patterns import bars, grants
from toolcrib.store.tickets import TICKET_S

Verdict = Literal["allow", "ask", "deny"]
_STRICTEST: tuple[Verdict, ...] = ("allow", "ask", "deny")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rule:
    """A verdict on the tools whose name fits a pattern and whose kind is this one; None is any."""

    verdict: Verdict
    pattern: str = "*"
    kind: PermissionKind | None = None

    def means(self, entry: Entry) -> bool:
        """Whether the rule is about this tool and no other that its pattern could name."""
        return self._is_of(entry) and grants(self.pattern, entry)

    def touches(self, entry: Entry) -> bool:
        """Whether it may be about this tool. What allows is about nothing that it does not mean."""
        fits = grants if self.verdict == "allow" else bars
        return self._is_of(entry) and fits(self.pattern, entry)

    def _is_of(self, entry: Entry) -> bool:
        return self.kind in (None, entry.capability.permission_kind)


class Approver(Protocol):
    """Asks a person, and waits for the answer."""

    async def __call__(self, request: ApprovalRequest, /) -> bool:
        """Whether this very call may be made. Only True is leave; whatever is raised is none."""
        ...


class Denied:
    """The approver of a call that a person has refused already. No rule gives that one leave."""

    async def __call__(self, request: ApprovalRequest, /) -> bool:  # noqa: ARG002 - an approver's
        """False: the answer has been given."""
        return False


def decide(entry: Entry, rules: Sequence[Rule]) -> Verdict:
    """The verdict of the first rule that matches, else that of the default.

    The stricter of two: by the rules that mean the tool, and by all that may be about it.
    """
    default: Verdict = "allow" if entry.capability.permission_kind == "read" else "ask"
    meant = _first(filter(lambda rule: rule.means(entry), rules), default)
    touched = _first(filter(lambda rule: rule.touches(entry), rules), default)
    return max((meant, touched), key=_STRICTEST.index)


def _first(rules: Iterable[Rule], default: Verdict) -> Verdict:
    for rule in rules:
        return rule.verdict
    return default


class Approval:
    """Gives a call leave, or refuses it."""

    def __init__(self, rules: Sequence[Rule], tickets: Tickets) -> None:
        self._rules = rules
        self._tickets = tickets

    def verdict(self, entry: Entry) -> Verdict:
        """What the rules say of a tool."""
        return decide(entry, self._rules)

    def asks(self, entry: Entry) -> bool:
        """Whether a person's leave is needed, rather than given or refused by rule."""
        return self.verdict(entry) == "ask"

    async def grant(
        self, entry: Entry, request: ApprovalRequest, approver: Approver | None
    ) -> None:
        """Return if the call has leave. Raises `Refused` if it has not, or if nobody can tell."""
        match self.verdict(entry):
            case "allow" if not isinstance(approver, Denied):
                return
            case "allow" | "ask" if approver:
                await _ask(approver, request)
            case "ask":
                await asyncio.to_thread(self._spend, request)
            case _:
                message = f"the operator's rules deny {entry.name!r}; do without it"
                raise Refused("approval_denied", "approval", message)

    def _spend(self, request: ApprovalRequest) -> None:
        """Use up the ticket of this call; without one, ask for one."""
        try:
            if self._tickets.spend(request):
                return
            ticket = self._tickets.ask(request).id
        except ToolcribError as error:
            message = f"nobody can approve {request.name!r} now: {error}"
            raise Refused("approval_failed", "approval", message) from None
        message = (
            f"{request.name!r} needs the operator's approval (ticket {ticket}); "
            "once it is given, make the same call again"
        )
        raise Refused("approval_needed", "approval", message, ticket=ticket)


async def _ask(approver: Approver, request: ApprovalRequest) -> None:
    try:
        async with asyncio.timeout(TICKET_S):
            answer = await approver(request)
    except Exception:  # noqa: BLE001 - whatever it raises is no leave
        _log.exception("the approver failed, so %s is not called", request.name)
        message = f"nobody could be asked whether {request.name!r} may be called; try again later"
        raise Refused("approval_failed", "approval", message) from None
    if answer is not True:
        message = f"this call of {request.name!r} was not approved; do without it"
        raise Refused("approval_denied", "approval", message)
