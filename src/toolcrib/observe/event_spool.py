"""Events that their store cannot take now, in order, until it can.

They wait in memory, and in a file of this machine as far as that can be written, so that they
outlast the process. Each spool has a file of its own: `events.waiting.PID-NUMBER`. What is left of
one that has ended is taken over by the next that begins. The store may have taken a batch though it
said that it cannot: so it is asked first. Not for several threads at once.
"""

import json
import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from toolcrib.model import Event, EventKind
from toolcrib.store import EventFilter, EventStore
from toolcrib.system import is_running, make_private_folder

MOST_BYTES = 32 * 1024 * 1024
"""Some 100,000 events."""
AUDITED: Final = frozenset[EventKind]({"call", "approval", "definition"})
"""Kinds that have as much room again as all: no flood of others keeps them out."""
MOST_ASKED = 10_000
_OURS = set[Path]()
"""The files of this process: in a container the next one may have its id."""


class _Batch(NamedTuple):
    line: bytes
    number: int
    in_doubt: bool


class EventSpool:
    """What waits for a store. `path`: beside it it outlasts the process."""

    def __init__(self, path: Path | None = None) -> None:
        self._shared = path
        self._path = path and path.with_name(f"{path.name}.{os.getpid()}-{time.time_ns()}")
        self._batches = deque(self._left_behind())
        self._is_kept = bool(self._batches)

    def __len__(self) -> int:
        return sum(each.number for each in self._batches)

    def close(self) -> int:
        """Leave what waits to whoever comes next. How many are lost."""
        if self._path and self._shared and self._is_kept:
            _OURS.discard(self._path)  # whoever comes next may take it over
            with suppress(OSError):
                if not self._shared.exists():
                    self._path.rename(self._shared)
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
                _OURS.discard(self._path)
                self._path.unlink()

    def _save(self, line: bytes) -> None:
        """Into the file, which has all that waits or is not there."""
        if self._path and (self._is_kept or not self._batches):
            self._is_kept = False
            _OURS.add(self._path)
            with suppress(OSError):
                make_private_folder(self._path.parent)
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                with open(os.open(self._path, flags, 0o600), "wb", buffering=0) as file:  # noqa: PTH123 - by its descriptor
                    self._is_kept = file.write(line) == len(line)

    def _left_behind(self) -> Iterator[_Batch]:
        """What waits since another spool; a line that was not written whole is left out."""
        if self._path and self._shared:
            left = self._shared.parent.glob(f"{self._shared.name}*")
            if any(_is_taken(each, self._path) for each in left):
                _OURS.add(self._path)
                for line in self._path.read_bytes().splitlines(keepends=True):
                    with suppress(ValueError):
                        yield _Batch(line, len(json.loads(line)), in_doubt=True)


def _is_taken(left: Path, path: Path) -> bool:
    """Whether this file is now ours, by this name. One of a process that runs stays its own."""
    owner = left.suffix[1:].partition("-")[0]
    may_be_ours = owner != str(os.getpid()) or left in _OURS
    if owner.isdigit() and may_be_ours and is_running(int(owner)):
        return False
    with suppress(OSError):  # another process was faster
        left.rename(path)
        return True
    return False


def _has(store: EventStore, event: Event) -> bool:
    """Whether the store has this one already, and so all of its batch."""
    which = EventFilter((event.kind,), since=event.at)
    found = store.newest(MOST_ASKED, which).values()
    return any((e.at, e.name, e.caller) == (event.at, event.name, event.caller) for e in found)
