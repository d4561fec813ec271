"""Counts what one connection has under way, and refuses at once what would be too much."""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from toolcrib.gateway import sdk
from toolcrib.gateway.admission import RETRY_S, Admission, Overloaded
from toolcrib.gateway.client_notes import ClientNote

OVERLOADED = -32092
MOST_STREAMS = 64
LISTEN = "subscriptions/listen"
CANCELLED = "notifications/cancelled"
_TAKEN_BACK = sdk.ErrorData(
    code=sdk.INVALID_REQUEST, message="this key was removed; ask the operator for another"
)


class Turnstile:
    """One connection of a guest. What was not answered when it ends is under way no more.

    An id that is under way is not taken a second time: two with one id would count as one.
    """

    def __init__(
        self, admission: Admission, guest: str, note: ClientNote, is_good: Callable[[], bool]
    ) -> None:
        self._admission, self._guest, self._note = admission, guest, note
        self._is_good = is_good
        self._open: set[int | str] = set()
        self._streams: set[int | str] = set()

    def came(self, message: sdk.JSONRPCMessage) -> sdk.ErrorData | None:
        """Why this is not taken: it is too much, or the key was taken back."""
        if isinstance(message, sdk.JSONRPCRequest):
            self._note.hear(message.method, message.params or {})
            return self._count(message) if self._is_good() else _TAKEN_BACK
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
            self._admission.enter(self._guest)
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
            self._admission.leave(self._guest)


def _overloaded(told: str) -> sdk.ErrorData:
    data = {"code": "overloaded", "retry_after_s": RETRY_S}
    return sdk.ErrorData(code=OVERLOADED, message=f"overloaded: {told}", data=data)


def _cancelled(params: Mapping[str, Any]) -> int | str | None:
    id = params.get("requestId")
    return id if isinstance(id, int | str) else None
