"""How much is done at once: file descriptors, connections, requests.

    descriptor_limit          what the system lets us have
    ConnectionBounds          how many of them connections may take
    RequestLimiter            requests under way: of one principal, and in all
    ConnectionRequestLimiter  requests under way on one connection

What is beyond a limit is refused at once, with the time to try again: a queue without end would
serve everybody late. What is admitted is finished. Connections that have shown no credential are
bounded by `ConnectionLimiter` of the system package.
"""

import asyncio
import errno
import logging
import resource
import time
from collections import Counter
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self

from toolcrib.gateway import sdk
from toolcrib.gateway.connected_client import ConnectedClient

RETRY_S = 1


class Overloaded(Exception):
    """Too much is under way already. The message says whose, and what to do."""


class RequestLimiter:
    """Counts what is under way, for each principal and in all."""

    def __init__(self, most_of_one: int = 64, most: int = 256) -> None:
        self._most_of_one = most_of_one
        self._most = most
        self._running = Counter[str]()

    @property
    def running(self) -> int:
        """How many requests are under way."""
        return self._running.total()

    def enter(self, principal: str) -> None:
        """One more of this principal; `leave` has to follow. Raises `Overloaded`."""
        if self._running[principal] >= self._most_of_one:
            told = f"{self._most_of_one} requests of yours are under way"
            raise Overloaded(f"{told}; try again in {RETRY_S} s")
        if self.running >= self._most:
            raise Overloaded(f"{self._most} requests are under way; try again in {RETRY_S} s")
        self._running[principal] += 1

    def leave(self, principal: str) -> None:
        """One less."""
        self._running[principal] -= 1
        if not self._running[principal]:
            del self._running[principal]


# Counts what one connection has under way, and refuses at once what would be too much.

OVERLOADED = -32092
MOST_STREAMS = 64
LISTEN = "subscriptions/listen"
CANCELLED = "notifications/cancelled"
_KEY_REMOVED = sdk.ErrorData(
    code=sdk.INVALID_REQUEST, message="this key was removed; ask the operator for another"
)


class ConnectionRequestLimiter:
    """One connection of a principal. What was not answered when it ends is under way no more.

    An id that is under way is not taken a second time: two with one id would count as one.
    """

    def __init__(
        self,
        admission: RequestLimiter,
        principal: str,
        note: ConnectedClient,
        is_good: Callable[[], bool],
    ) -> None:
        self._admission, self._principal, self._note = admission, principal, note
        self._is_good = is_good
        self._open: set[int | str] = set()
        self._streams: set[int | str] = set()

    def came(self, message: sdk.JSONRPCMessage) -> sdk.ErrorData | None:
        """Why this is not taken: it is too much, or the key was taken back."""
        if isinstance(message, sdk.JSONRPCRequest):
            self._note.hear(message.method, message.params or {})
            return self._count(message) if self._is_good() else _KEY_REMOVED
        if isinstance(message, sdk.JSONRPCNotification) and message.method == CANCELLED:
            self._left(_cancelled(message.params or {}))
        return None

    def went(self, message: sdk.JSONRPCMessage) -> None:
        """An answer ends what it answers."""
        if isinstance(message, sdk.JSONRPCResponse | sdk.JSONRPCError):
            self._left(message.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        for id in list(self._open):
            self._left(id)

    def _count(self, request: sdk.JSONRPCRequest) -> sdk.ErrorData | None:
        if request.id in self._open | self._streams:
            told = (
                f"a request with the id {request.id!r} is under way already; give each its own id"
            )
            return sdk.ErrorData(code=sdk.INVALID_REQUEST, message=told)
        # A stream of news lasts, and does nothing meanwhile.
        if request.method == LISTEN:
            return self._count_stream(request)
        try:
            self._admission.enter(self._principal)
        except Overloaded as error:
            return _overloaded(str(error))
        self._open.add(request.id)
        return None

    def _count_stream(self, request: sdk.JSONRPCRequest) -> sdk.ErrorData | None:
        if len(self._streams) >= MOST_STREAMS:
            return _overloaded(f"{MOST_STREAMS} streams of yours are open; end one")
        self._streams.add(request.id)
        return None

    def _left(self, id: int | str | None) -> None:
        if id is None:
            return
        self._streams.discard(id)
        if id in self._open:
            self._open.remove(id)
            self._admission.leave(self._principal)


def _overloaded(told: str) -> sdk.ErrorData:
    data = {"code": "overloaded", "retry_after_s": RETRY_S}
    return sdk.ErrorData(code=OVERLOADED, message=f"overloaded: {told}", data=data)


def _cancelled(params: Mapping[str, Any]) -> int | str | None:
    id = params.get("requestId")
    return id if isinstance(id, int | str) else None


# The descriptors that the system lets us have, and what share of them connections may take.

MOST_DESCRIPTORS = 8192
EXHAUSTION_LOG_S = 60.0
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE})

_log = logging.getLogger(__name__)


class ConnectionBounds(NamedTuple):
    """How many connections there may be at once.

    `strangers` is for each place where somebody may come in; `http` and `shims` are those in all.
    """

    strangers: int
    http: int
    shims: int

    @property
    def at_once(self) -> int:
        """How many are let in before anybody looks at those that came before.

        Some of such turns pass until an honest request has shown its credential, and it must not
        be the oldest by then.
        """
        return max(2, self.strangers // 8)

    @classmethod
    def of(cls, descriptors: int) -> Self:
        """What fits into so many descriptors: all together less than two thirds of them."""
        strangers = max(4, min(128, descriptors // 16))
        return cls(strangers, min(1000, descriptors // 3), min(200, descriptors // 5))


def raise_descriptor_limit() -> None:
    """Raise our limit as far as the system lets us: what a terminal allows is few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(MOST_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def descriptor_limit() -> int:
    """How many we may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


class ExhaustionLog:
    """Says that there are none left, once in `LOG_S`: the loop would say so for each connection."""

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """As an exception handler of a loop."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _EXHAUSTED:
            loop.default_exception_handler(context)
        elif time.monotonic() >= self._quiet_until:
            self._quiet_until = time.monotonic() + EXHAUSTION_LOG_S
            told = (
                "no file descriptors are left (%d); connections wait. Raise the limit: `ulimit -n`"
            )
            _log.error(told, descriptor_limit())
