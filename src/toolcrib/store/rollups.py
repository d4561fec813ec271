"""Hourly roll-ups of events: how many, how long, what came of them; for a year of figures.

An hour is one by the clock on the wall. Of one hour and kind so many names are counted by
themselves, and all others together: names may come from whoever calls.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar, Final, NamedTuple

import apsw

from toolcrib.model import Event, EventKind
from toolcrib.store.file_clock import DAY_S

HOUR_S = 3_600
KEPT_DAYS = 400.0
MOST_NAMES = 500
MOST_ROWS = 500_000
OTHERS: Final = "*"
"""In place of a name that is counted with others."""

BOUNDS_S: Final = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25),
    *(0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
"""A bucket counts what took at most so long, and more than the bound before; the last, the rest."""

TABLE = """
    CREATE TABLE rollup (
        hour INTEGER, kind TEXT, name TEXT, server TEXT, code TEXT, how TEXT,
        count INTEGER NOT NULL, seconds REAL NOT NULL, buckets TEXT NOT NULL,
        eager INTEGER NOT NULL, sent INTEGER NOT NULL, seen REAL NOT NULL,
        PRIMARY KEY (hour, kind, name, server, code, how)
    ) WITHOUT ROWID;
    CREATE INDEX rollup_seen ON rollup (seen);
"""
_ADD = """
    INSERT INTO rollup VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
        count = count + excluded.count, seconds = seconds + excluded.seconds,
        buckets = add_buckets(buckets, excluded.buckets),
        eager = eager + excluded.eager, sent = sent + excluded.sent
"""


class RollupKey(NamedTuple):
    """What is counted together. `hour` is since the epoch; `how` is how tokens were counted."""

    hour: int
    kind: EventKind
    name: str = ""
    server: str = ""
    code: str = ""
    how: str = ""


@dataclass(slots=True)
class Rollup:
    """How many there were, and what they took together; see `BOUNDS_S` for the buckets.

    Of lists: `eager` is what all definitions would have cost in tokens, `sent` what was sent.
    """

    EMPTY: ClassVar = (0,) * (len(BOUNDS_S) + 1)

    count: int = 0
    seconds: float = 0.0
    buckets: Sequence[int] = EMPTY
    eager: int = 0
    sent: int = 0

    def add(self, event: Event) -> None:
        """Count one more."""
        place = bisect_left(BOUNDS_S, event.seconds)
        counted = self.buckets if isinstance(self.buckets, list) else list(self.buckets)
        counted[place] += 1
        self.buckets = counted
        self.count += 1
        self.seconds += event.seconds
        if event.kind == "list":
            self.eager += _number(event.facts.get("eager"))
            self.sent += _number(event.facts.get("sent"))

    def percentile(self, share: float) -> float:
        """So many seconds this share of them took at most, as near as the buckets tell; 0 of none.

        Beyond the last bound it is that bound.
        """
        left, lower = share * self.count, 0.0
        for upper, number in zip(BOUNDS_S, self.buckets, strict=False):
            if left <= number:
                return lower + (upper - lower) * left / number if number else lower
            left, lower = left - number, upper
        return lower


class RollupFolder:
    """Folds events into roll-ups, and knows which names the newest hour has."""

    def __init__(self) -> None:
        self._hour = 0
        self._names: dict[EventKind, set[str]] = {}

    def fold(self, events: Iterable[Event]) -> Mapping[RollupKey, Rollup]:
        """The events by what is counted together."""
        folded: dict[RollupKey, Rollup] = {}
        for event in events:
            key = self._key(event)
            rollup = folded.get(key)
            if rollup is None:
                rollup = folded[key] = Rollup()
            rollup.add(event)
        return folded

    def _key(self, event: Event) -> RollupKey:
        hour = int(event.at // HOUR_S)
        how = str(event.facts.get("how", "")) if event.kind == "list" else ""
        name = self._counted_name(event, hour) if event.name else ""
        return RollupKey(hour, event.kind, name, event.server, event.code, how)

    def _counted_name(self, event: Event, hour: int) -> str:
        """The name, unless no tool has it or the hour has too many."""
        if event.kind == "call" and not event.facts.get("pin"):
            return OTHERS
        if hour != self._hour:
            self._hour, self._names = hour, {}
        names = self._names.setdefault(event.kind, set())
        if event.name not in names and len(names) >= MOST_NAMES:
            return OTHERS
        names.add(event.name)
        return event.name


def prepare_rollups(db: apsw.Connection) -> None:
    """Teach a connection what `add_rollups` needs."""
    db.create_scalar_function("add_buckets", _add_buckets, 2, deterministic=True)


def add_rollups(db: apsw.Connection, folded: Mapping[RollupKey, Rollup], seen: float) -> None:
    """Add to what is there, within a transaction."""
    db.executemany(
        _ADD,
        [
            (*key, each.count, each.seconds, json.dumps(each.buckets), each.eager, each.sent, seen)
            for key, each in folded.items()
        ],
    )


def sweep_rollups(db: apsw.Connection, seen: float) -> None:
    """Let go of what is too old, and of the oldest where there are too many."""
    db.execute("DELETE FROM rollup WHERE seen < ?", (seen - KEPT_DAYS * DAY_S,))
    extra = db.execute("SELECT count(*) FROM rollup").get - MOST_ROWS
    if extra > 0:
        newest = "SELECT seen FROM rollup ORDER BY seen LIMIT 1 OFFSET ?"
        db.execute(f"DELETE FROM rollup WHERE seen <= ({newest})", (extra - 1,))  # noqa: S608 - no word of others


def read_rollups(
    db: apsw.Connection, since_hour: int, kinds: Sequence[EventKind]
) -> Iterator[tuple[RollupKey, Rollup]]:
    """Those of an hour and later, of some kinds or of all, the earliest first."""
    marks = ", ".join("?" * len(kinds))
    which = f"AND kind IN ({marks})" if kinds else ""
    columns = "hour, kind, name, server, code, how, count, seconds, buckets, eager, sent"
    sql = f"SELECT {columns} FROM rollup WHERE hour >= ? {which} ORDER BY hour"  # noqa: S608 - our own names
    for row in db.execute(sql, (since_hour, *kinds)):
        count, seconds, buckets, eager, sent = row[6:]
        rollup = Rollup(count, seconds, tuple(json.loads(buckets)), eager, sent)
        yield RollupKey(*row[:6]), rollup


def read_totals(
    db: apsw.Connection,
    since_hour: int,
    kinds: Sequence[EventKind],
    by: Sequence[str],
    name: str = "",
) -> Iterator[tuple[RollupKey, Rollup]]:
    """The roll-ups of some kinds from an hour on, added up by some columns of the key."""
    columns = ", ".join(name for name in RollupKey._fields if name in by)
    sums = "sum(count), sum(seconds), json_group_array(json(buckets)), sum(eager), sum(sent)"
    marks = ", ".join("?" * len(kinds))
    only = "AND name = ?" if name else ""
    which = f"hour >= ? AND kind IN ({marks}) {only} GROUP BY {columns}"
    sql = f"SELECT {columns}, {sums} FROM rollup WHERE {which}"  # noqa: S608 - our own names
    named = columns.split(", ")
    for row in db.execute(sql, (since_hour, *kinds, *([name] if name else []))):
        apart: dict[str, Any] = dict(zip(named, row, strict=False))
        key = RollupKey(0, kinds[0])._replace(**apart)
        count, seconds, buckets, eager, sent = row[len(named) :]
        summed = tuple(map(sum, zip_longest(*json.loads(buckets), fillvalue=0)))
        yield key, Rollup(count, seconds, summed, eager, sent)


def _add_buckets(one: str, other: str) -> str:
    pairs = zip_longest(json.loads(one), json.loads(other), fillvalue=0)
    return json.dumps([a + b for a, b in pairs])


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
