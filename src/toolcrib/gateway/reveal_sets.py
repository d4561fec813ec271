"""Reveal sets: what a search has shown, named by a handle that needs no connection.

A set belongs to one principal. It gives no right. A call with a set is held to what was shown, and
to the definitions that were shown.

Sets are in a store, so that a restart ends none, and any replica knows them. What was last seen of
a few is in memory too: a call of what was shown a moment ago waits for no disk, and while the store
is away searches go on. What they have shown meanwhile is sent once it is back.
"""

import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

from toolcrib.errors import StoreError
from toolcrib.model import Json
from toolcrib.observe import conversation_mark
from toolcrib.store import MOST_SET_TOOLS, UNUSED_S, RevealSetStore

MOST_SEEN = 64
"""Sets of a principal that are in memory."""
FRESH_S = 60.0
"""So long calls go by what was seen of a set. Then the store is asked, and notes the use."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecentSet:
    """What was last seen of a set, and when."""

    pins: Mapping[str, str]
    at: float


def new_handle() -> str:
    """A handle that nobody can guess."""
    return secrets.token_urlsafe(16)


class RevealSets:
    """The sets of one principal. Safe to share between threads; all but `shows` may take a while.

    How many there are, and for how long, is for `RevealSetStore` to say. Where the store fails,
    what is in memory counts; only `pins` raises, of a set that is not there.
    """

    def __init__(
        self,
        owner: str,
        open_store: Callable[[], RevealSetStore],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`open_store` gives the store, the same each time. It may raise `StoreError`."""
        self.owner = owner
        self._open_store = open_store
        self._clock = clock
        self._seen: OrderedDict[str, RecentSet] = OrderedDict()
        self._changing = Lock()
        self._is_away = False
        self._unsent: set[str] = set()

    def add(self, handle: str, pins: Mapping[str, str], new: str = "") -> str:
        """Put these behind what the set has; returns its handle.

        A tool that was shown anew has the new pin. A handle that is not known, or is empty, makes
        a new set under a new handle: `new`, where the caller has made one.
        """
        self._send_first(handle)
        before, new, is_sent = self._seen_pins(handle), new or new_handle(), True
        try:
            kept = self._open_store().add_to_set(self.owner, handle, pins, new)
            self._is_away = False
        except StoreError as error:
            self._complain(error)
            kept, is_sent = new if before is None else handle, False
        if kept != handle:
            before = None
        self._note(kept, {**(before or {}), **pins})
        if not is_sent:  # only now: whoever sends the rest sends what was noted
            self._unsent.add(kept)
        return kept

    def pins(self, handle: str) -> Mapping[str, str] | None:
        """Names and pins of a set, in order; None if there is none, or not any more.

        Raises `StoreError` where that cannot be told: the store fails, and it is not in memory.
        """
        self._send_first(handle)
        seen = self._seen_pins(handle)
        try:
            found = self._open_store().set_pins(self.owner, handle)
            if found is None and seen is not None:  # made while the store was away
                self._open_store().add_to_set(self.owner, "", seen, handle)
            self._is_away = False
        except StoreError as error:
            self._complain(error)
            if seen is None:
                raise
            found = None
        found = seen if found is None else found
        if found is not None and handle in self._unsent:  # the store has less than was shown
            found = {**found, **(seen or {})}
        if found is not None:
            self._note(handle, found)
        return found

    @property
    def has_unsent(self) -> bool:
        """Whether something was shown that the store does not have. Takes no time."""
        return bool(self._unsent)

    def send_rest(self) -> None:
        """Send what was shown while the store was away; nothing if it still is."""
        for handle in tuple(self._unsent):
            self._unsent.discard(handle)  # first: what is added meanwhile is to be sent again
            try:
                if pins := self._seen_pins(handle):
                    self._open_store().add_to_set(self.owner, handle, pins, handle)
                self._is_away = False
            except StoreError as error:
                self._unsent.add(handle)
                self._complain(error)
                return

    def shows(self, handle: str, name: str, pin: str) -> bool:
        """Whether a set is known to have shown this tool under this pin. Takes no time.

        False says nothing: then `pins` tells.
        """
        with self._changing:
            seen = self._seen.get(handle)
        is_fresh = seen is not None and self._clock() - seen.at < FRESH_S
        return is_fresh and seen is not None and seen.pins.get(name) == pin

    def describe(self) -> list[dict[str, Json]]:
        """Every set for the operator, the one used last first; by a mark, and not by its handle."""
        try:
            now = time.time()
            return [
                _described(handle, names, now - used)
                for handle, names, used in self._open_store().sets(self.owner)
            ]
        except StoreError as error:
            self._complain(error)
            with self._changing:
                seen = [*reversed(self._seen.items())]
            now = self._clock()
            return [_described(handle, tuple(each.pins), now - each.at) for handle, each in seen]

    def _send_first(self, handle: str) -> None:
        """What was shown of a set while the store was away comes before what is asked of it."""
        if handle in self._unsent:
            self.send_rest()

    def _seen_pins(self, handle: str) -> Mapping[str, str] | None:
        with self._changing:
            seen = self._seen.get(handle)
        return seen.pins if seen and self._clock() - seen.at < UNUSED_S else None

    def _note(self, handle: str, pins: Mapping[str, str]) -> None:
        last = dict([*pins.items()][-MOST_SET_TOOLS:])
        with self._changing:
            self._seen[handle] = RecentSet(last, self._clock())
            self._seen.move_to_end(handle)
            while len(self._seen) > MOST_SEEN:
                self._seen.popitem(last=False)

    def _complain(self, error: StoreError) -> None:
        """Once, until the store is back."""
        if not self._is_away:
            self._is_away = True
            _log.warning("reveal sets are kept in memory only: %s", error)


def _described(handle: str, names: tuple[str, ...], unused_s: float) -> dict[str, Json]:
    return {
        "set": conversation_mark(handle),
        "tools": list(names),
        "unused_s": round(max(0.0, unused_s), 1),
    }
