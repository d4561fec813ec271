"""Counts what one connection has under way, and refuses at once what would be too much."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from toolcrib.gateway import sdk
from toolcrib.gateway.admission import RETRY_S, Admission, Overloaded
from toolcrib.gateway.client_notes import ClientNote

OVERLOADED = -32002
LISTEN = "subscriptions/listen"
CANCELLED = "notifications/cancelled"


class Turnstile:
    """One connection of a guest. What was not answered when it ends is under way no more."""

    def __init__(self, admission: Admission, guest: str, note: ClientNote) -> None:
        self._admission, self._guest, self._note = admission, guest, note
        self._open: set[int | str] = set()

    def came(self, message: sdk.JSONRPCMessage) -> sdk.ErrorData | None:
        """Why this is too much; None if it is not."""
        if isinstance(message, sdk.JSONRPCRequest):
            self._note.hear(message.method, message.params or {})
            return self._count(message)
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
        # A stream of news lasts, and does nothing meanwhile.
        if request.method == LISTEN or request.id in self._open:
            return None
        try:
            self._admission.enter(self._guest)
        except Overloaded as error:
            data = {"code": "overloaded", "retry_after_s": RETRY_S}
            return sdk.ErrorData(code=OVERLOADED, message=f"overloaded: {error}", data=data)
        self._open.add(request.id)
        return None

    def _left(self, id: int | str | None) -> None:
        if id is not None and id in self._open:
            self._open.remove(id)
            self._admission.leave(self._guest)


def _cancelled(params: Mapping[str, Any]) -> int | str | None:
    id = params.get("requestId")
    return id if isinstance(id, int | str) else None
