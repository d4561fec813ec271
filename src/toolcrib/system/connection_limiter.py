"""Bounds the connections of strangers: they cost a descriptor each, and there are few."""

import logging
import time
from collections.abc import Callable, Hashable

LOG_S = 60.0

_log = logging.getLogger(__name__)


class ConnectionLimiter:
    """Connections that have shown no credential yet. Of too many, the oldest is ended.

    The newest stays: who is honest shows a credential at once, so that those who hold connections
    open for nothing end their own. What is ended is logged once in `LOG_S`, as a number.
    """

    def __init__(self, most: int, where: str) -> None:
        self._most = most
        self._where = where
        self._waiting: dict[Hashable, Callable[[], None]] = {}
        self._ended = 0
        self._quiet_until = 0.0

    def enter(self, connection: Hashable, end: Callable[[], None]) -> None:
        """Somebody has come; `end` hangs up on them."""
        self._waiting[connection] = end
        while len(self._waiting) > self._most:
            oldest = next(iter(self._waiting))
            self._waiting.pop(oldest)()
            self._note()

    def leave(self, connection: Hashable) -> None:
        """They have shown a credential, or are gone."""
        self._waiting.pop(connection, None)

    def _note(self) -> None:
        self._ended += 1
        now = time.monotonic()
        if now >= self._quiet_until:
            told = "%s: more than %d connections without a credential; ended %d, the oldest first"
            _log.warning(told, self._where, self._most, self._ended)
            self._ended, self._quiet_until = 0, now + LOG_S
