"""Who is at the dashboard: links that are good once, and sessions of two levels, in memory alone.

A link is for one browser and one minute. Whoever used it may look for twelve hours, and act for
fifteen minutes: a model that drives the browser later finds buttons that do nothing. To act again
takes a new link, and that is told to the terminal.
"""

import hashlib
import hmac
import json
import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

LINK_S = 60.0
VIEW_S = 12 * 3600.0
ACT_S = 15 * 60.0
SECRET_BYTES = 32
MOST_LINKS = 8
MOST_SESSIONS = 32
MOST_NOTICES = 32

Clock = Callable[[], float]


def waking_clock() -> float:
    """Seconds that also pass while the machine sleeps, where the system counts those."""
    boot_time = getattr(time, "CLOCK_BOOTTIME", None)
    return time.time() if boot_time is None else time.clock_gettime(boot_time)


class Notice(NamedTuple):
    """What came of an action, for the page after it."""

    text: str
    is_bad: bool = False


class BrowserSession:
    """One browser that has used a link. Its key never leaves this process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = clock()
        self._key = secrets.token_bytes(SECRET_BYTES)
        self._notices: deque[tuple[int, Notice]] = deque(maxlen=MOST_NOTICES)
        self._noted = 0

    @property
    def may_view(self) -> bool:
        """Whether it may look at pages."""
        return self._clock() - self._began < VIEW_S

    @property
    def acting_s(self) -> float:
        """How long it may still act; 0 if it may not."""
        return max(0.0, ACT_S - (self._clock() - self._began))

    def token(self, action: str, subject: Sequence[str]) -> str:
        """What the button for this very action carries."""
        said = json.dumps([action, *subject]).encode()
        return hmac.new(self._key, said, hashlib.sha256).hexdigest()

    def is_token(self, given: str, action: str, subject: Sequence[str]) -> bool:
        """Whether it is the token of this action and no other."""
        return hmac.compare_digest(_digest(given), _digest(self.token(action, subject)))

    def note(self, notice: Notice) -> int:
        """Keep a notice for a while; its number."""
        self._noted += 1
        self._notices.append((self._noted, notice))
        return self._noted

    def notice(self, number: str) -> Notice | None:
        """The notice of this number, if it is still known."""
        return next((each for known, each in self._notices if str(known) == number), None)


class Logins:
    """All links and sessions of one dashboard."""

    def __init__(self, clock: Clock = waking_clock) -> None:
        self._clock = clock
        self._links: dict[bytes, float] = {}
        self._sessions: dict[bytes, BrowserSession] = {}

    def new_link(self) -> str:
        """The secret of a new link, good once, for `LINK_S`."""
        self._forget()
        while len(self._links) >= MOST_LINKS:
            del self._links[next(iter(self._links))]
        secret = secrets.token_urlsafe(SECRET_BYTES)
        self._links[_digest(secret)] = self._clock()
        return secret

    def log_in(self, secret: str) -> str | None:
        """The cookie of a new session; None for a link that is spent, late or made up."""
        self._forget()
        if self._links.pop(_digest(secret), None) is None:
            return None
        while len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        cookie = secrets.token_urlsafe(SECRET_BYTES)
        self._sessions[_digest(cookie)] = BrowserSession(self._clock)
        return cookie

    def session(self, cookie: str) -> BrowserSession | None:
        """The session of a cookie, while it may look."""
        found = self._sessions.get(_digest(cookie))
        return found if found and found.may_view else None

    @property
    def is_needed(self) -> bool:
        """Whether anybody is logged in, or may still use a link."""
        self._forget()
        return bool(self._links or self._sessions)

    def _forget(self) -> None:
        now = self._clock()
        self._links = {key: made for key, made in self._links.items() if now - made < LINK_S}
        self._sessions = {key: each for key, each in self._sessions.items() if each.may_view}


def _digest(secret: str) -> bytes:
    """Secrets are looked up by this: how long a look takes says nothing about them."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
