"""Time as a file has seen it pass: a clock that is put forward or back deletes nothing.

The clock on the wall may jump; the time since the machine was started does not. So what has passed
since the last look is told by that as long as the machine runs, and across a start of the machine
by the wall, but as a day at most.
"""

import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import apsw

DAY_S = 24 * 60 * 60.0

TABLE = """
    CREATE TABLE IF NOT EXISTS elapsed (
        seen REAL NOT NULL, wall REAL NOT NULL, boot TEXT NOT NULL, since_boot REAL NOT NULL
    )
"""

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class ClockReading(NamedTuple):
    """Seconds since the epoch as the wall says, and since the machine was started; which start."""

    wall: float
    boot: str
    since_boot: float


def read_clock() -> ClockReading:
    """This moment. Where the system does not number its starts, the time since then tells."""
    boot = ""
    with suppress(OSError):
        boot = _BOOT.read_text(encoding="ascii").strip()
    ticks = getattr(time, "CLOCK_BOOTTIME", None)
    since = time.monotonic() if ticks is None else time.clock_gettime(ticks)
    return ClockReading(time.time(), boot, since)


def advance(db: apsw.Connection, moment: ClockReading, first: float) -> float:
    """The time by the file's own count, after a look at the clock; a new one begins at `first`.

    Never goes back. Has to be within a transaction.
    """
    rows = db.execute("SELECT seen, wall, boot, since_boot FROM elapsed").fetchall()
    seen = max((seen + _passed(ClockReading(*last), moment) for seen, *last in rows), default=first)
    db.execute("DELETE FROM elapsed")
    db.execute("INSERT INTO elapsed VALUES (?, ?, ?, ?)", (seen, *moment))
    return seen


def _passed(last: ClockReading, moment: ClockReading) -> float:
    if last.boot == moment.boot and last.since_boot <= moment.since_boot:
        return moment.since_boot - last.since_boot
    return min(max(0.0, moment.wall - last.wall), DAY_S)
