"""Tickets: approvals that are given later, by somebody else, for one call each.

A ticket is bound to the caller, the pin of the tool and the hash of the arguments, lasts five
minutes and is spent by the first call that fits it. Approving is the operator's: nothing that a
model can call leads here.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock

from toolcrib.execute.strict_json import digest
from toolcrib.model import Json, PermissionKind, ToolInfo

TICKET_S = 300.0
MOST_TICKETS = 1_000


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What a person is asked: whether this caller may make this very call."""

    caller: str
    name: str
    description: str
    permission_kind: PermissionKind
    arguments: Json
    pin: str

    @classmethod
    def of(cls, caller: str, tool: ToolInfo, arguments: Json) -> "ApprovalRequest":
        """The request of a caller to call a tool."""
        return cls(caller, tool.name, tool.description, tool.permission_kind, arguments, tool.pin)

    def binding(self) -> tuple[str, str, str]:
        """What makes it this call and no other: caller, pin, hash of the arguments."""
        return self.caller, self.pin, digest(self.arguments)


@dataclass(frozen=True, slots=True)
class Ticket:
    """A call that waits for approval, or has it."""

    id: str
    request: ApprovalRequest
    expires: float
    approved: bool = False


class Tickets:
    """All tickets of one door. Every step is one step: no two calls get one ticket."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tickets: dict[tuple[str, str, str], Ticket] = {}
        self._changing = Lock()

    def ask(self, request: ApprovalRequest) -> Ticket:
        """The ticket that a call waits for: the one it has, or a new one.

        With `MOST_TICKETS` waiting, the oldest makes room.
        """
        with self._changing:
            self._forget()
            binding = request.binding()
            if binding not in self._tickets:
                while len(self._tickets) >= MOST_TICKETS:
                    del self._tickets[next(iter(self._tickets))]
                expires = self._clock() + TICKET_S
                self._tickets[binding] = Ticket(secrets.token_hex(8), request, expires)
            return self._tickets[binding]

    def spend(self, request: ApprovalRequest) -> bool:
        """Whether this call was approved; if so, that approval is gone now."""
        with self._changing:
            self._forget()
            binding = request.binding()
            ticket = self._tickets.get(binding)
            if ticket is None or not ticket.approved:
                return False
            del self._tickets[binding]
            return True

    def waiting(self) -> Sequence[Ticket]:
        """The tickets that nobody has decided on, oldest first."""
        with self._changing:
            self._forget()
            return [ticket for ticket in self._tickets.values() if not ticket.approved]

    def approve(self, id: str) -> bool:
        """Give leave for one call. False: no such ticket waits, or not any more."""
        with self._changing:
            ticket = self._undecided(id)
            if ticket:
                self._tickets[ticket.request.binding()] = replace(ticket, approved=True)
            return ticket is not None

    def reject(self, id: str) -> bool:
        """Take a ticket away. False: no such ticket waits, or not any more."""
        with self._changing:
            ticket = self._undecided(id)
            if ticket:
                del self._tickets[ticket.request.binding()]
            return ticket is not None

    def _undecided(self, id: str) -> Ticket | None:
        self._forget()
        waiting = (ticket for ticket in self._tickets.values() if not ticket.approved)
        return next((ticket for ticket in waiting if ticket.id == id), None)

    def _forget(self) -> None:
        """Let go of what has expired. An approval does not make a ticket last longer."""
        now = self._clock()
        expired = [key for key, ticket in self._tickets.items() if ticket.expires <= now]
        for key in expired:
            del self._tickets[key]
