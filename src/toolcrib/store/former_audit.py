"""The log of calls as it was before there were events: `audit.db`, read once and then removed."""

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import apsw

from toolcrib.model import Event
from toolcrib.store.database import BUSY_MS, DAMAGE

AT_ONCE = 5_000
_FACTS = ("pin", "arguments", "verdict", "effect")


def is_former_log(path: Path) -> bool:
    """Whether this is such a file. One that is damaged counts; one of another program does not."""
    if not path.exists():
        return False
    try:
        with suppress(apsw.CantOpenError), closing(_opened(path)) as db:
            return bool(_columns(db))
    except DAMAGE:
        return True
    return False  # another process has just removed it


def former_calls(path: Path, newer_than: float) -> Iterator[Sequence[tuple[Event, float]]]:
    """Its calls after a time, oldest first, each with when the file saw it; some at a time."""
    with suppress(apsw.CantOpenError), closing(_opened(path)) as db:
        columns = _columns(db)
        # The first of these files had neither.
        source = "source" if "source" in columns else "''"
        seen = "seen" if "seen" in columns else "at"
        names = f"{seen}, at, caller, tool, {source}, seconds, code, {', '.join(_FACTS)}"
        sql = f"SELECT {names} FROM call WHERE at > ? ORDER BY id"  # noqa: S608 - our own names
        rows = db.execute(sql, (newer_than,))
        while some := [_read(row) for row in islice(rows, AT_ONCE)]:
            yield some


def remove_former(path: Path) -> None:
    """Remove the file: what it held is in another one now."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def _read(row: Sequence[Any]) -> tuple[Event, float]:
    seen, at, caller, tool, source, seconds, code, *facts = row
    event = Event(
        at,
        "call",
        caller,
        name=tool,
        server=source,
        seconds=seconds,
        code=code,
        facts=dict(zip(_FACTS, facts, strict=True)),
    )
    return event, seen


def _opened(path: Path) -> apsw.Connection:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    db.set_busy_timeout(BUSY_MS)  # whoever opens it first after a kill has it alone for a moment
    return db


def _columns(db: apsw.Connection) -> set[str]:
    return {name for _, name, *_ in db.execute("PRAGMA table_info(call)")}
