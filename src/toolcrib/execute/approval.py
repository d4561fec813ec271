"""Whether a call is approved, and who is asked: an approver now, or the operator by a ticket.

Which calls have to be approved is for the rules to say; see `rulebook`.
"""

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.execute.caller import Caller
from toolcrib.execute.cover import Cover
from toolcrib.execute.gates import DENIED, CallRefused, ruled_out
from toolcrib.execute.rulebook import Rulebook, Verdict
from toolcrib.execute.tickets import ApprovalRequest, Tickets
from toolcrib.model import Entry
from toolcrib.store import TicketFile

_log = logging.getLogger(__name__)


class Approver(Protocol):
    """Asks a person, and waits for the answer."""

    async def __call__(self, request: ApprovalRequest, /) -> bool | None:
        """Whether this one call may be made. True approves it.

        None means that nobody has answered: then the call waits for the operator, with a ticket.
        Any other value, and any exception, refuses it; a `CallRefused` in its own words.
        """
        ...


class CallMaker(NamedTuple):
    """For whom a call runs, and who approves what it calls in turn."""

    caller: Caller
    approver: Approver | None


_RUNNING_FOR: ContextVar[CallMaker | None] = ContextVar("toolcrib_call_maker", default=None)


def running_for() -> CallMaker | None:
    """Who made the call that runs here, for tools that make calls themselves; None outside one."""
    return _RUNNING_FOR.get()


@contextmanager
def run_for(caller: Caller, approver: Approver | None) -> Generator[None]:
    """Have what is called here run for this caller."""
    token = _RUNNING_FOR.set(CallMaker(caller, approver))
    try:
        yield
    finally:
        _RUNNING_FOR.reset(token)


class DenyingApprover:
    """The approver of a call that a person has refused already. No rule overrules that."""

    async def __call__(self, request: ApprovalRequest, /) -> bool:  # noqa: ARG002 - an approver's
        """False: the answer has been given."""
        return False


class Approval:
    """Approves a call, or refuses it."""

    def __init__(self, rulebook: Rulebook, tickets: Tickets) -> None:
        self._rulebook = rulebook
        self._tickets = tickets

    def verdict(self, entry: Entry, caller: Caller) -> Verdict:
        """What the rules say of a tool. Raises `CallRefused` where they cannot be read."""
        try:
            return self._rulebook.verdict(entry, caller.profile)
        except ConfigError as error:
            message = f"nobody can tell whether {entry.name!r} may be called: {error}"
            raise CallRefused("approval_failed", "approval", message) from None

    def asks(self, entry: Entry, caller: Caller) -> bool:
        """Whether a person has to approve it, because no rule allows or denies it."""
        try:
            return self.verdict(entry, caller) == "ask"
        except CallRefused:
            return False

    async def grant(
        self,
        verdict: Verdict,
        request: ApprovalRequest,
        approver: Approver | None,
        cover: Cover | None = None,
    ) -> None:
        """Return if the call is approved. Raises `CallRefused` if not, or if nobody can tell.

        With a cover, the person is asked about all that it covers, once, in place of this call.
        """
        match verdict:
            case "allow" if not isinstance(approver, DenyingApprover):
                return
            case "ask" if not isinstance(approver, DenyingApprover):
                if not (cover and await self._covered(request, approver, cover)):
                    await self._get_leave(request, approver)
            case "allow" | "ask":
                raise _denied(request)
            case "deny":
                raise ruled_out(request.name)

    def check_again(self, entry: Entry, caller: Caller) -> None:
        """Return if no rule denies a call that a person has approved. Raises `CallRefused`."""
        if self.verdict(entry, caller) == "deny":
            raise ruled_out(entry.name)

    async def _covered(
        self, request: ApprovalRequest, approver: Approver | None, cover: Cover
    ) -> bool:
        """Whether the answer for several calls is also one for this. Raises `CallRefused`.

        It is asked for by the first call that it covers.
        """
        async with cover.asking:
            if not cover.covers(request):
                return False
            if cover.answer is None:
                try:
                    await self._get_leave(cover.request, approver)
                except CallRefused as refused:
                    cover.ticket = refused.error.ticket
                    cover.answer = False if refused.error.code == DENIED else None
                    raise
                cover.answer = True
            if not cover.answer:
                raise _denied(request)
            cover.use(request)
        self._tickets.record(request, "allowed", "program")
        return True

    async def _get_leave(self, request: ApprovalRequest, approver: Approver | None) -> None:
        """Return if it is approved, now or before. Raises `CallRefused`, maybe with a ticket."""
        if not (approver and await self._approved(approver, request)):
            await asyncio.to_thread(self._spend, request)

    async def _approved(self, approver: Approver, request: ApprovalRequest) -> bool:
        """Whether it is approved already, or by the approver; False: nobody has answered."""
        with suppress(ToolcribError):  # then a person is asked once more than need be
            if await asyncio.to_thread(self._tickets.spend, request):
                return True
        answer = await _ask(approver, request)
        if answer is None:
            return False
        self._tickets.record(request, "allowed" if answer else "denied", "approver")
        if not answer:
            raise _denied(request)
        return True

    def _spend(self, request: ApprovalRequest) -> None:
        """Use up the ticket of this call; without one, ask for one."""
        try:
            if self._tickets.spend(request):
                return
            ticket = self._tickets.ask(request).id
        except ToolcribError as error:
            message = f"nobody can approve {request.name!r} now: {error}"
            raise CallRefused("approval_failed", "approval", message) from None
        raise approval_needed(request, ticket)


def approval_needed(request: ApprovalRequest, ticket: str) -> CallRefused:
    """The refusal of a call that waits for the operator under this ticket."""
    message = (
        f"{request.name!r} needs the operator's approval (ticket {ticket}); "
        "once it is given, make the same call again"
    )
    return CallRefused("approval_needed", "approval", message, ticket=ticket)


async def _ask(approver: Approver, request: ApprovalRequest) -> bool | None:
    """Whether it was approved; None where nobody has answered. Raises `CallRefused`."""
    try:
        async with asyncio.timeout(TicketFile.LIFETIME_S):
            answer = await approver(request)
    except CallRefused:
        raise
    except Exception:  # noqa: BLE001 - an approver that fails approves nothing
        _log.exception("the approver failed, so %s is not called", request.name)
        message = f"nobody could be asked whether {request.name!r} may be called; try again later"
        raise CallRefused("approval_failed", "approval", message) from None
    return None if answer is None else answer is True


def _denied(request: ApprovalRequest) -> CallRefused:
    message = f"this call of {request.name!r} was not approved; do without it"
    return CallRefused(DENIED, "approval", message)
