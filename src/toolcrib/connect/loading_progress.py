"""Progress for requests that wait until the gateway has loaded.

A client that asked for progress is told each second that its request is not lost. The numbers are
small and grow, so that those of the tool itself come on top.
"""

import json
import time

from toolcrib.connect.messages import notification

EVERY_S = 1.0
STEP = 0.001
MESSAGE = "the gateway is loading"
_MARK = b'"progressToken"'


class LoadingProgress:
    """The requests of one client that wait, and want progress."""

    def __init__(self) -> None:
        self._tokens: list[int | str] = []
        self._told = 0
        self._due = 0.0

    def add(self, line: bytes) -> None:
        """This request waits from now on, if it is one and names a token."""
        token = _token(line) if _MARK in line else None
        if token is not None:
            self._due = self._due or time.monotonic() + EVERY_S
            self._tokens.append(token)

    @property
    def wait_s(self) -> float | None:
        """How long it takes until something is due; None if nobody waits."""
        return max(0.0, self._due - time.monotonic()) if self._tokens else None

    def take_due(self) -> bytes:
        """What the client is sent now; empty if nothing is due."""
        if not self._tokens or time.monotonic() < self._due:
            return b""
        self._due = time.monotonic() + EVERY_S
        self._told += 1
        done = round(self._told * STEP, 3)
        return b"".join(
            notification(
                "notifications/progress", progressToken=token, progress=done, message=MESSAGE
            )
            for token in self._tokens
        )

    def end(self) -> None:
        """Nobody waits any more."""
        self._tokens.clear()


def _token(line: bytes) -> int | str | None:
    try:
        match json.loads(line):
            case {"id": _, "params": {"_meta": {"progressToken": token}}}:
                return token if isinstance(token, int | str) else None
            case _:
                return None
    except (ValueError, RecursionError):
        return None
