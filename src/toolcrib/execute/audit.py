"""Notes every call that came to the door, for the log of calls.

A thread of its own writes the notes a moment later, so that no call waits for a disk. When the
process is killed, the last half second of notes is lost.
"""

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

from toolcrib.errors import StoreError
from toolcrib.execute.tickets import ApprovalRequest
from toolcrib.model import Outcome
from toolcrib.store import AuditFile, AuditRow
from toolcrib.strict_json import json_digest

PAUSE_S = 0.5
END_S = 5.0
MOST_WAITING = 10_000
LONGEST_NAME = 128

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class CallRecord:
    """What the door has seen of a call so far. `request` is there once the tool is known."""

    caller: str
    name: str
    at: float = field(default_factory=time.time)
    began: float = field(default_factory=time.monotonic)
    request: ApprovalRequest | None = None
    verdict: str = ""
    source: str = ""


class Audit:
    """The notes of one door. The file is opened with the first of them, not before."""

    def __init__(self, open_file: Callable[[], AuditFile]) -> None:
        self._open_file = open_file
        self._waiting: deque[tuple[CallRecord, Outcome, float]] = deque(maxlen=MOST_WAITING)
        self._woken, self._closing = Event(), Event()
        self._starting = Lock()
        self._thread: Thread | None = None

    def note(self, record: CallRecord, outcome: Outcome) -> None:
        """Have it written. With too many waiting, the oldest are lost."""
        self._waiting.append((record, outcome, time.monotonic() - record.began))
        if self._thread is None:
            self._start()
        if not self._woken.is_set():
            self._woken.set()

    def close(self) -> None:
        """Write what waits, and end the thread. What comes after that is not written."""
        self._closing.set()
        self._woken.set()
        with self._starting:
            if self._thread:
                self._thread.join(END_S)

    def _start(self) -> None:
        with self._starting:
            if self._thread is None and not self._closing.is_set():
                self._thread = Thread(target=self._work, name="toolcrib-audit", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        try:
            file = self._open_file()
        except StoreError as error:
            _log.warning("calls are not logged: %s", error)
            return
        try:
            while not self._closing.is_set():
                self._woken.wait()
                self._closing.wait(PAUSE_S)
                self._woken.clear()
                self._write(file)
            self._write(file)  # what came between the last look and the end
        finally:
            file.close()

    def _write(self, file: AuditFile) -> None:
        rows = [_row(*self._waiting.popleft()) for _ in range(len(self._waiting))]
        if not rows:
            return
        try:
            file.write(rows)
        except StoreError as error:
            _log.warning("%d calls are not logged: %s", len(rows), error)


def _row(record: CallRecord, outcome: Outcome, seconds: float) -> AuditRow:
    request, error = record.request, outcome.error
    return AuditRow(
        at=record.at,
        caller=record.caller,
        tool=request.name if request else ascii(record.name[:LONGEST_NAME])[1:-1],
        pin=request.pin if request else "",
        arguments=json_digest(request.arguments) if request else "",
        verdict=record.verdict,
        code=error.code if error else "",
        effect=error.effect if error else "",
        seconds=seconds,
        source=record.source,
    )
