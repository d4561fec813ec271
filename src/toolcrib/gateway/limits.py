"""How much is done at once: file descriptors, connections, requests of one connection.

    descriptor_limit          what the system lets us have
    ConnectionBounds          how many of them connections may take
    ConnectionRequestLimiter  requests under way on one connection

Each connection is a descriptor, and each server that is started needs some as well: connections
that strangers hold open must never take what an honest request or a server needs. Of too many,
`toolcrib.system.ConnectionLimiter` ends those that have shown no credential. How many requests
somebody may make is for `quotas` to say.
"""

import asyncio
import errno
import logging
import resource
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self

from toolcrib.gateway import sdk
from toolcrib.gateway.quotas import Overloaded, QuotaExceeded, Quotas, RequestLimiter

MOST_DESCRIPTORS = 8192
EXHAUSTION_LOG_S = 60.0
OVERLOADED = -32092
MOST_STREAMS = 64
LISTEN = "subscriptions/listen"
CANCELLED = "notifications/cancelled"
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE})
_KEY_REMOVED = sdk.ErrorData(
    code=sdk.INVALID_REQUEST,
    message="this key was removed, or has expired; ask the operator for another",
)

_log = logging.getLogger(__name__)


def raise_descriptor_limit() -> None:
    """Raise our limit as far as the system lets us: what a terminal allows is few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(MOST_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def descriptor_limit() -> int:
    """How many we may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


class ExhaustionLog:
    """Logs that no descriptor is left, once in `EXHAUSTION_LOG_S`: the loop would for each."""

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """As an exception handler of a loop."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _EXHAUSTED:
            loop.default_exception_handler(context)
        elif time.monotonic() >= self._quiet_until:
            self._quiet_until = time.monotonic() + EXHAUSTION_LOG_S
            message = (
                "no file descriptors are left (%d); connections wait. Raise the limit: `ulimit -n`"
            )
            _log.error(message, descriptor_limit())


class ConnectionBounds(NamedTuple):
    """How many connections there may be at once.

    `http` and `shims` are those in all; of shims, `strangers` may have shown no credential.
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


class ConnectionRequestLimiter:
    """Counts the requests of one connection. What has no answer when it ends is counted no more.

    An id that is under way is refused a second time: two requests with one id would count as one.
    `on_request` is called with the method and the params of each request, refused or not.
    """

    def __init__(
        self,
        limiter: RequestLimiter,
        quotas: Quotas,
        is_good: Callable[[], bool],
        on_request: Callable[[str, Mapping[str, Any]], None],
    ) -> None:
        self._limiter, self._quotas = limiter, quotas
        self._is_good, self._on_request = is_good, on_request
        self._open: set[int | str] = set()
        self._streams: set[int | str] = set()

    def refusal(self, message: sdk.JSONRPCMessage) -> sdk.ErrorData | None:
        """Why a message of the client is not taken: too many, or its key was removed."""
        if isinstance(message, sdk.JSONRPCRequest):
            self._on_request(message.method, message.params or {})
            return self._count(message) if self._is_good() else _KEY_REMOVED
        if isinstance(message, sdk.JSONRPCNotification) and message.method == CANCELLED:
            self._end(_cancelled_id(message.params or {}))
        return None

    def outgoing(self, message: sdk.JSONRPCMessage) -> sdk.JSONRPCMessage:
        """The message itself. An answer ends the request that it answers."""
        if isinstance(message, sdk.JSONRPCResponse | sdk.JSONRPCError):
            self._end(message.id)
        return message

    def answered(self, id: int | str) -> None:
        """The same for a plain call."""
        self._end(id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        for id in list(self._open):
            self._end(id)

    def _count(self, request: sdk.JSONRPCRequest) -> sdk.ErrorData | None:
        if request.id in self._open | self._streams:
            problem = f"a request with the id {request.id!r} is under way already"
            message = f"{problem}; give each its own id"
            return sdk.ErrorData(code=sdk.INVALID_REQUEST, message=message)
        # A subscription lasts, and does nothing meanwhile.
        if request.method == LISTEN:
            return self._count_stream(request)
        try:
            self._limiter.enter(self._quotas)
        except Overloaded as error:
            return _overloaded(error)
        self._open.add(request.id)
        return None

    def _count_stream(self, request: sdk.JSONRPCRequest) -> sdk.ErrorData | None:
        try:
            if len(self._streams) >= MOST_STREAMS:
                raise QuotaExceeded(f"{MOST_STREAMS} streams of yours are open; end one")
            self._limiter.rates.spend(self._quotas)
        except Overloaded as error:
            return _overloaded(error)
        self._streams.add(request.id)
        return None

    def _end(self, id: int | str | None) -> None:
        if id is None:
            return
        self._streams.discard(id)
        if id in self._open:
            self._open.remove(id)
            self._limiter.leave(self._quotas)


def _overloaded(error: Overloaded) -> sdk.ErrorData:
    code = "too_many_requests" if isinstance(error, QuotaExceeded) else "overloaded"
    data = {"code": code, "retry_after_s": error.retry_after_s}
    return sdk.ErrorData(code=OVERLOADED, message=f"{code}: {error}", data=data)


def _cancelled_id(params: Mapping[str, Any]) -> int | str | None:
    id = params.get("requestId")
    return id if isinstance(id, int | str) else None
