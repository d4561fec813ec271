"""Limits connections: each costs a descriptor, and there are few."""

import logging
import time
from collections.abc import Callable, Hashable

LOG_S = 60.0

_log = logging.getLogger(__name__)


class ConnectionLimiter:
    """So many connections. When there are too many, one that has shown no credential is ended.

    It is the oldest of them: an honest client shows its credential soon, so whoever only holds
    connections open loses their own. How many were ended is logged, once in `LOG_S`.
    """

    def __init__(self, most: int, where: str) -> None:
        self._most = most
        self._where = where
        self._waiting: dict[Hashable, Callable[[], None]] = {}
        self._held: set[Hashable] = set()
        self._ended = 0
        self._quiet_until = 0.0

    def enter(self, connection: Hashable, end: Callable[[], None]) -> None:
        """Count a connection as a stranger's, from which something has to come; `end` closes it."""
        self._held.discard(connection)
        self._waiting[connection] = end
        while self._waiting and len(self._waiting) + len(self._held) > self._most:
            oldest = next(iter(self._waiting))
            self._waiting.pop(oldest)()
            self._note()

    def hold(self, connection: Hashable) -> None:
        """Count it, and do not end it: it has shown a credential, or waits for our answer."""
        if self._waiting.pop(connection, None):
            self._held.add(connection)

    def leave(self, connection: Hashable) -> None:
        """Stop counting it: it is closed, or counted elsewhere."""
        self._waiting.pop(connection, None)
        self._held.discard(connection)

    def _note(self) -> None:
        self._ended += 1
        now = time.monotonic()
        if now >= self._quiet_until:
            text = "%s: more than %d; ended %d connections without a credential, the oldest first"
            _log.warning(text, self._where, self._most, self._ended)
            self._ended, self._quiet_until = 0, now + LOG_S
