"""Events that their store cannot take now, in order, until it can.

They wait in memory, and in a file of this machine as far as that can be written, so that they
outlast the process. The store may have taken a batch though it said that it cannot: so it is asked
first. Not for several threads at once.
"""

import json
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from toolcrib.model import Event, EventKind
from toolcrib.store import EventFilter, EventStore
from toolcrib.system import make_private_folder

MOST_BYTES = 32 * 1024 * 1024
"""Some 100,000 events."""
AUDITED: Final = frozenset[EventKind]({"call", "approval", "definition"})
"""Kinds that have as much room again as all: no flood of others keeps them out."""
MOST_ASKED = 10_000


class _Batch(NamedTuple):
    line: bytes
    number: int
    in_doubt: bool


class EventSpool:
    """What waits for a store. `path`: where it outlasts the process."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._batches = deque(self._left_behind())
        self._is_kept = bool(self._batches)

    def __len__(self) -> int:
        return sum(each.number for each in self._batches)

    @property
    def at_risk(self) -> int:
        """How many are lost if the process ends now."""
        return 0 if self._is_kept else len(self)

    def add(self, events: Sequence[Event]) -> int:
        """Let these wait, which the store has perhaps; how many there was no room for."""
        size = sum(len(each.line) for each in self._batches)
        kept = [each for each in events if size < MOST_BYTES // 2 or each.kind in AUDITED]
        line = json.dumps(kept).encode() + b"\n"
        if not kept or size + len(line) > MOST_BYTES:
            return len(events)
        self._save(line)
        # Only the first one was sent: with others waiting, later ones are not tried.
        self._batches.append(_Batch(line, len(kept), in_doubt=not self._batches))
        return len(events) - len(kept)

    def send(self, store: EventStore) -> None:
        """Write all that waits, the oldest first. Raises `StoreError`; the rest goes on waiting."""
        if not self._batches:
            return
        while self._batches:
            batch = self._batches[0]
            events = [Event(*each) for each in json.loads(batch.line)]
            if not (batch.in_doubt and _has(store, events[0])):
                self._batches[0] = batch._replace(in_doubt=True)
                store.write(events)
            self._batches.popleft()
        self._is_kept = False
        with suppress(OSError):  # then the store is asked at the next start
            if self._path:
                self._path.unlink()

    def _save(self, line: bytes) -> None:
        """Into the file, which has all that waits or is not there."""
        if self._path and (self._is_kept or not self._batches):
            self._is_kept = False
            with suppress(OSError):
                make_private_folder(self._path.parent)
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                with open(os.open(self._path, flags, 0o600), "wb", buffering=0) as file:  # noqa: PTH123 - by its descriptor
                    self._is_kept = file.write(line) == len(line)

    def _left_behind(self) -> Iterator[_Batch]:
        """What waits since another process; a line that was not written whole is left out."""
        with suppress(OSError):
            for line in self._path.read_bytes().splitlines(keepends=True) if self._path else ():
                with suppress(ValueError):
                    yield _Batch(line, len(json.loads(line)), in_doubt=True)


def _has(store: EventStore, event: Event) -> bool:
    """Whether the store has this one already, and so all of its batch."""
    which = EventFilter((event.kind,), since=event.at)
    found = store.newest(MOST_ASKED, which).values()
    return any((e.at, e.name, e.caller) == (event.at, event.name, event.caller) for e in found)
