"""Approval by the operator while the client waits: a call is held for a while, and then goes on.

    the rules say ask ──> the person at the client, if they can be asked     `client_approver`
                      ──> a ticket, and the call is held ──> allowed: it goes on
                                                         ├─> denied: it ends, and says so
                                                         └─> no answer: "make the call again"

Nothing here decides. What is held has no lock, no server and no thread; it is looked at now and
then, because the operator may decide in another process. An approval is spent where it always is,
by the call that goes on, and the door looks at state, pin and rights once more then.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager, suppress
from typing import Protocol

from toolcrib.errors import ToolcribError
from toolcrib.execute import ApprovalRequest, Approver, CallRefused, Ticket, approval_needed
from toolcrib.gateway import sdk
from toolcrib.gateway.call_channel import CallChannel
from toolcrib.store import TicketState

MOST_OF_ONE = 8
MOST = 64
"""Held at once, of one caller and in all: a part of the requests that may be under way."""
LOOK_S = 0.25
LAST_S = 1.0
"""A ticket that expires sooner is not waited for: the call gets another one."""
REPORT_S = 5.0
STEP = 0.001
"""Progress of the wait itself: so little that whatever the tool reports later is more."""

_REVOKED = "the key of this call works no longer, so it was not made; ask the operator for another"


class TicketView(Protocol):
    """What a call that waits may do with tickets: ask for one, and look at it."""

    def ask(self, request: ApprovalRequest) -> Ticket: ...
    def state(self, id: str) -> TicketState: ...


class HeldCalls:
    """The calls that are held now, of all clients of a gateway. Made for one event loop.

    Of two calls with one ticket the newer is held: its client has come again.
    """

    def __init__(self, most_of_one: int = MOST_OF_ONE, most: int = MOST) -> None:
        self._most_of_one, self._most = most_of_one, most
        self._by_caller = Counter[str]()
        self._ends: dict[Hashable, asyncio.Event] = {}  # each by its ticket, and by its request

    @contextmanager
    def hold(self, caller: str, ticket: str, request: Hashable) -> Generator[asyncio.Event | None]:
        """A call is held meanwhile; None if too many are. The event: it is to wait no longer."""
        is_full = self._by_caller[caller] >= self._most_of_one
        if is_full or self._by_caller.total() >= self._most:
            yield None
            return
        if older := self._ends.get(ticket):
            older.set()
        ended = self._ends[ticket] = self._ends[request] = asyncio.Event()
        self._by_caller[caller] += 1
        try:
            yield ended
        finally:
            self._by_caller -= Counter((caller,))
            self._ends = {key: each for key, each in self._ends.items() if each is not ended}

    def client_left(self, request: Hashable) -> None:
        """Nobody waits for the answer to this request any more: it is not held, and not made."""
        if ended := self._ends.get(request):
            ended.set()


def request_key(connection: sdk.Connection, id: int | str | None) -> Hashable:
    """A request among all that are under way."""
    return object.__hash__(connection), id


class OperatorApprover:
    """Holds one call until the operator has decided, for `wait_s` at most.

    `first` is asked before, if there is one. `is_revoked` says whether the credential that the call
    came with works no longer: then it is not made, whatever is decided.
    """

    def __init__(  # noqa: PLR0913 - what a call that is held has, each by its name
        self,
        first: Approver | None,
        tickets: TicketView,
        held: HeldCalls,
        channel: CallChannel,
        wait_s: float,
        *,
        is_revoked: Callable[[], bool],
    ) -> None:
        self._first, self._tickets, self._held = first, tickets, held
        self._channel, self._wait_s, self._is_revoked = channel, wait_s, is_revoked

    async def __call__(self, request: ApprovalRequest, /) -> bool | None:
        """As `Approver`. None also where the ticket is approved: the call spends it then.

        Raises `CallRefused` where the operator denies it, and where nobody waits any more.
        """
        answer = await self._first(request) if self._first else None
        if answer is not None:
            return answer
        try:
            ticket = await asyncio.to_thread(self._tickets.ask, request)
            context = self._channel.context
            key = request_key(sdk.connection_of(context), context.request_id)
            with self._held.hold(request.caller, ticket.id, key) as ended:
                if ended is not None:
                    await self._until_decided(ticket, ended)
        except ToolcribError:  # who spends the ticket will say what is wrong
            return None
        return None

    async def _until_decided(self, ticket: Ticket, ended: asyncio.Event) -> None:
        """Return when it is approved, or when it was held for long enough. Raises `CallRefused`."""
        loop = asyncio.get_running_loop()
        wait_s = min(self._wait_s, ticket.expires - time.time() - LAST_S)
        end, report_at, steps = loop.time() + wait_s, loop.time(), 0
        while (left_s := end - loop.time()) > 0:
            if loop.time() >= report_at:
                report_at, steps = report_at + REPORT_S, steps + 1
                self._report(ticket, steps, left_s)
            await _pause(ended, min(left_s, LOOK_S))
            if self._is_revoked():
                raise CallRefused("approval_denied", "approval", _REVOKED)
            if ended.is_set():
                raise approval_needed(ticket.request, ticket.id)
            match await asyncio.to_thread(self._tickets.state, ticket.id):
                case "approved":
                    return
                case "gone":
                    message = f"the operator did not approve this call of {ticket.request.name!r}"
                    raise CallRefused("approval_denied", "approval", f"{message}; do without it")
                case "waiting":
                    pass

    def _report(self, ticket: Ticket, steps: int, left_s: float) -> None:
        if self._channel.progress:
            waits = f"{ticket.request.name} waits for the operator's approval"
            message = f"{waits} (ticket {ticket.id}), {left_s:.0f} s more"
            self._channel.progress(steps * STEP, None, message)


async def _pause(ended: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await ended.wait()
