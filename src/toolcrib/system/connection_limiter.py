"""Limits connections that have shown no credential: each costs a descriptor, and there are few."""

import logging
import time
from collections.abc import Callable, Hashable

LOG_S = 60.0

_log = logging.getLogger(__name__)


class ConnectionLimiter:
    """Connections that have shown no credential yet. When there are too many, the oldest is ended.

    The newest stays: an honest client shows its credential at once, so whoever only holds
    connections open loses their own. How many were ended is logged, once in `LOG_S`.
    """

    def __init__(self, most: int, where: str) -> None:
        self._most = most
        self._where = where
        self._waiting: dict[Hashable, Callable[[], None]] = {}
        self._ended = 0
        self._quiet_until = 0.0

    def enter(self, connection: Hashable, end: Callable[[], None]) -> None:
        """Count a new connection; `end` closes it."""
        self._waiting[connection] = end
        while len(self._waiting) > self._most:
            oldest = next(iter(self._waiting))
            self._waiting.pop(oldest)()
            self._note()

    def leave(self, connection: Hashable) -> None:
        """Stop counting it: it has shown a credential, or is closed."""
        self._waiting.pop(connection, None)

    def _note(self) -> None:
        self._ended += 1
        now = time.monotonic()
        if now >= self._quiet_until:
            text = "%s: more than %d connections without a credential; ended %d, the oldest first"
            _log.warning(text, self._where, self._most, self._ended)
            self._ended, self._quiet_until = 0, now + LOG_S
