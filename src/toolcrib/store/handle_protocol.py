"""What is kept under handles that a model repeats: reveal sets, long results, suspended programs.

A handle is a name that nobody guesses. It belongs to one owner, and to any other it is unknown.
What is kept here may be lost at the cost of one more search, one more call, or one more run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_SETS: Final = 256
"""Of one owner; the one used longest ago makes room."""
MOST_SET_TOOLS: Final = 64
"""Of one set; the one shown longest ago makes room."""
UNUSED_S: Final = 3600.0
"""A set that nobody has used for so long is gone."""
HELD_BYTES: Final = 64 * 1024 * 1024
"""Of all results as UTF-8; the caller who holds most loses the oldest."""


class StoredSet(NamedTuple):
    """A reveal set: the names of its tools in order, and when it was last used, since the epoch."""

    handle: str
    names: tuple[str, ...]
    used: float


class RevealSetStore(Protocol):
    """Names and pins of tools that were shown, by owner and handle. For all threads and processes.

    Bounded by `MOST_SETS`, `MOST_SET_TOOLS` and `UNUSED_S`. Everything here raises `StoreError`
    when the place behind it cannot be read or written.
    """

    def add_to_set(self, owner: str, handle: str, pins: Mapping[str, str], new: str) -> str:
        """Put names and pins behind what the set has; returns its handle.

        A tool that was shown before keeps its place and gets the new pin. A handle that is not
        known, or is empty, makes a set under the handle `new`. It counts as used.
        """
        ...

    def set_pins(self, owner: str, handle: str) -> Mapping[str, str] | None:
        """Names and pins in the order in which they were first shown; the set counts as used.

        None: this owner has no such set, or not any more.
        """
        ...

    def sets(self, owner: str) -> Sequence[StoredSet]:
        """All that the owner has, the one used last first. None of them counts as used by that."""
        ...


class ResultStore(Protocol):
    """Texts of results, by handle and caller. For all threads and processes.

    Bounded by `HELD_BYTES`. Everything here raises `StoreError` when the place behind it cannot be
    read or written.
    """

    def keep_result(self, handle: str, caller: str, text: str, lasts_s: float) -> bool:
        """Keep a text for so many seconds by the wall clock. The handle is a new one.

        False: it is larger than `HELD_BYTES` by itself, and is not kept.
        """
        ...

    def result(self, handle: str, caller: str) -> str | None:
        """The text, to the character, halves of surrogate pairs included.

        None: this caller has no such result, or not any more.
        """
        ...


class SuspensionStore(Protocol):
    """Programs that wait for a person, by handle and caller. For all threads and processes.

    Bounded by `HELD_BYTES` in all; the caller who holds most loses the oldest. Everything here
    raises `StoreError` when the place behind it cannot be read or written.
    """

    def keep_suspension(self, handle: str, caller: str, content: bytes, lasts_s: float) -> bool:
        """Keep one for so many seconds by the wall clock. The handle is a new one.

        False: it is larger than `HELD_BYTES` by itself, and is not kept.
        """
        ...

    def suspension(self, handle: str, caller: str) -> bytes | None:
        """What was kept; it stays. None: this caller has no such one, or not any more."""
        ...

    def take_suspension(self, handle: str, caller: str) -> bytes | None:
        """What was kept, and it is gone for good, whatever happens then.

        Of any number who ask at once, in whatever process, one gets it. None for the others.
        """
        ...
