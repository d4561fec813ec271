"""Reveal sets: what a search has shown, named by a handle that needs no connection.

A set belongs to one principal: each gateway server keeps its own. It gives no right. A call with a
set is held to what was shown, and to the definitions that were shown.
"""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from toolcrib.model import Json
from toolcrib.observe import conversation_mark

MOST_SETS = 256
MOST_TOOLS = 64
UNUSED_S = 3600.0


@dataclass(slots=True)
class RevealSet:
    """Names and pins of tools, in the order in which they were shown first."""

    expires: float
    pins: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])


def new_handle() -> str:
    """A handle that nobody can guess."""
    return secrets.token_urlsafe(16)


class RevealSets:
    """The sets of one principal. Safe to share between threads.

    There are at most `MOST_SETS`, of `MOST_TOOLS` tools each. The set used longest ago and the tool
    shown longest ago make room. A set that nobody has used for `UNUSED_S` is gone.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sets: OrderedDict[str, RevealSet] = OrderedDict()
        self._changing = Lock()

    def add(self, handle: str, pins: Mapping[str, str], new: str = "") -> str:
        """Put these behind what the set has; returns its handle.

        A tool that was shown anew has the new pin. A handle that is not known, or is empty, makes
        a new set under a new handle: `new`, where the caller has made one.
        """
        with self._changing:
            found = self._found(handle)
            if found is None:
                handle, found = new or new_handle(), RevealSet(0)
                self._sets[handle] = found
            found.pins.update(pins)
            while len(found.pins) > MOST_TOOLS:
                found.pins.popitem(last=False)
            self._touch(handle, found)
            while len(self._sets) > MOST_SETS:
                self._sets.popitem(last=False)
            return handle

    def pins(self, handle: str) -> Mapping[str, str] | None:
        """Names and pins of a set, in order; None if there is none, or not any more."""
        with self._changing:
            found = self._found(handle)
            if found is None:
                return None
            self._touch(handle, found)
            return dict(found.pins)

    def describe(self) -> list[dict[str, Json]]:
        """Every set for the operator, the one used last first; by a mark, and not by its handle."""
        with self._changing:
            self._found("")
            now = self._clock()
            return [
                {
                    "set": conversation_mark(handle),
                    "tools": list(each.pins),
                    "unused_s": round(UNUSED_S - (each.expires - now), 1),
                }
                for handle, each in reversed(self._sets.items())
            ]

    def _touch(self, handle: str, found: RevealSet) -> None:
        found.expires = self._clock() + UNUSED_S
        self._sets.move_to_end(handle)

    def _found(self, handle: str) -> RevealSet | None:
        now = self._clock()
        for old in [each for each, revealed in self._sets.items() if revealed.expires <= now]:
            del self._sets[old]
        return self._sets.get(handle)
