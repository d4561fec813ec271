"""The descriptors that the system lets us have, and what share of them connections may take.

Each connection is one, and each server that is started needs some as well: what strangers hold open
must never be what an honest request or a server lacks.
"""

import asyncio
import errno
import logging
import resource
import time
from typing import Any, NamedTuple, Self

WANTED = 8192
LOG_S = 60.0
_SPENT = frozenset({errno.EMFILE, errno.ENFILE})

_log = logging.getLogger(__name__)


class Bounds(NamedTuple):
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


def allow_many() -> None:
    """Raise our limit as far as the system lets us: what a terminal allows is few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def allowed() -> int:
    """How many we may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return WANTED if soft == resource.RLIM_INFINITY else soft


class SpentLog:
    """Says that there are none left, once in `LOG_S`: the loop would say so for each connection."""

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """As an exception handler of a loop."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _SPENT:
            loop.default_exception_handler(context)
        elif time.monotonic() >= self._quiet_until:
            self._quiet_until = time.monotonic() + LOG_S
            told = (
                "no file descriptors are left (%d); connections wait. Raise the limit: `ulimit -n`"
            )
            _log.error(told, allowed())
