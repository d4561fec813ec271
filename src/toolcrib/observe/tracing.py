"""Spans of what a program does, made when it is over: `Tracer` takes records, a thread the rest.

    door, search, gateway, servers ── tell ──> a bounded queue ── a thread ──> SpanExporter

Whoever may have children makes an id before (`child_of`); nobody else does anything in time. What
becomes of the records is a matter of the exporter, which may wait for a collector: then the queue
fills, and what does not fit is counted and told.
"""

import logging
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from threading import Event as Signal
from threading import Lock, Thread
from typing import Protocol

from toolcrib.model import EventOrigin, SpanRecord, read_traceparent, read_tracestate
from toolcrib.observe.recording import one_line

PAUSE_S = 1.0
END_S = 2.0
MOST_WAITING = 10_000
COMPLAIN_EVERY_S = 60.0

_log = logging.getLogger(__name__)


class SpanExporter(Protocol):
    """Where spans go. `export` and `close` are called by one thread."""

    def export(self, records: Sequence[SpanRecord], *, last: bool) -> int:
        """Send these, and what is left from before; how many were lost for good. May take a while.

        `last`: it is not called again, and should not take long. It is called without records too.
        """
        ...


def can_export() -> bool:
    """Whether the extra `otel` is installed."""
    try:
        return find_spec("opentelemetry.proto.collector.trace") is not None
    except ModuleNotFoundError:
        return False


def child_of(parent: str) -> str:
    """A new span in the trace of this one, or in a trace of its own if it is ""."""
    if parent:
        return f"{parent[:36]}{random.getrandbits(64) or 1:016x}{parent[52:]}"
    trace, span = random.getrandbits(128) or 1, random.getrandbits(64) or 1
    return f"00-{trace:032x}-{span:016x}-01"


class Tracer:
    """Takes records of spans. Safe to share between threads. `dropped` counts those that are lost.

    `content`: the operator wants queries, arguments and results sent along.
    """

    def __init__(self, open_exporter: Callable[[], SpanExporter], *, content: bool = False) -> None:
        self.content = content
        self.dropped = 0
        self._open_exporter = open_exporter
        self._exporter: SpanExporter | None = None
        self._waiting: deque[SpanRecord | Callable[[], SpanRecord]] = deque()
        self._changing = Lock()
        self._closing = Signal()
        self._thread: Thread | None = None
        self._told = 0
        self._complained = -COMPLAIN_EVERY_S

    def tell(self, record: SpanRecord | Callable[[], SpanRecord]) -> None:
        """A span is over. Never waits and never raises; with too many waiting it is dropped."""
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(record)
        else:
            self._drop(1)
        if self._thread is None:
            self._start()

    def close(self) -> None:
        """Send what waits, within `END_S`; what comes after that is lost."""
        self._closing.set()
        with self._changing:
            thread = self._thread
        if thread:
            thread.join(END_S)
            if thread.is_alive():
                lost = len(self._waiting) + self.dropped - self._told
                _log.warning("%d spans or more are lost: the collector does not answer", lost)

    def _start(self) -> None:
        with self._changing:
            if self._thread is None and not self._closing.is_set():
                self._thread = Thread(target=self._work, name="toolcrib-spans", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while not self._closing.wait(PAUSE_S):
            self._export(last=False)
        self._export(last=True)

    def _export(self, *, last: bool) -> None:
        waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
        records = [record for each in waiting if (record := self._made(each))]
        try:
            self._exporter = self._exporter or self._open_exporter()
            self._drop(self._exporter.export(records, last=last))
        except Exception:  # noqa: BLE001 - whatever it is, the next ones may go
            _log.exception("spans could not be sent")
            self._drop(len(records))
        self._complain(last=last)

    def _made(self, given: SpanRecord | Callable[[], SpanRecord]) -> SpanRecord | None:
        try:
            record = given if isinstance(given, SpanRecord) else given()
            return record._replace(name=one_line(record.name), code=one_line(record.code))
        except Exception:  # noqa: BLE001 - whatever it is, the others are sent
            _log.exception("a span could not be made")
            self._drop(1)
            return None

    def _drop(self, number: int) -> None:
        with self._changing:
            self.dropped += number

    def _complain(self, *, last: bool) -> None:
        """Say how many are lost, now and then as long as it lasts."""
        now, lost = time.monotonic(), self.dropped - self._told
        if lost and (last or now - self._complained >= COMPLAIN_EVERY_S):
            self._complained, self._told = now, self.dropped
            _log.warning("%d spans are lost: the collector does not take them", lost)


def in_call(tracer: Tracer | None, origin: EventOrigin) -> EventOrigin:
    """Where what is done for a call comes from: a new span, of whoever asked for the call.

    Where nobody follows here, it is the client's span, if it has one.
    """
    if not tracer and not origin.trace:
        return origin
    parent = read_traceparent(origin.trace)
    state = read_tracestate(origin.trace_state) if parent else ""
    return origin._replace(trace=child_of(parent) if tracer else parent, trace_state=state)
