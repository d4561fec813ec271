"""The log of events of a tenant, and its roll-ups, written in batches by several gateways.

The same rows as in a file (`store.events`). Their age is by the clock of the server. A text with a
NUL character, which PostgreSQL does not take, is kept with another sign in its place.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, get_args

from psycopg import sql

from toolcrib.model import Event, EventKind
from toolcrib.store.event_filter import EventFilter
from toolcrib.store.events import (
    CUT,
    MOST_FACTS,
    RECENT,
    SWEEP_SHARE,
    LoggedConversation,
    Retention,
)
from toolcrib.store.file_clock import DAY_S
from toolcrib.store.postgres.database import Connection
from toolcrib.store.postgres.tenant import TenantDatabase
from toolcrib.store.rollups import KEPT_DAYS, MOST_ROWS, Rollup, RollupFolder, RollupKey

_COLUMNS = (
    "at, kind, caller, client, conversation, name, server, seconds, code, trace, facts, query"
)
_COUNT = """
    INSERT INTO event_count AS old (last) VALUES (%(number)s)
    ON CONFLICT (tenant) DO UPDATE SET last = old.last + %(number)s
    RETURNING last, extract(epoch FROM clock_timestamp())::float8
"""
_INSERT = f"""
    INSERT INTO event (id, {_COLUMNS}, seen) SELECT *, %s FROM unnest(
        %s::bigint[], %s::float8[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[],
        %s::text[], %s::float8[], %s::text[], %s::text[], %s::text[], %s::text[]
    )
"""
_ADD_ROLLUP = """
    INSERT INTO rollup AS old VALUES (DEFAULT, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (tenant, hour, kind, name, server, code, how) DO UPDATE SET
        count = old.count + excluded.count, seconds = old.seconds + excluded.seconds,
        buckets = (
            SELECT array_agg(coalesce(one, 0) + coalesce(other, 0) ORDER BY place)
            FROM unnest(old.buckets, excluded.buckets) WITH ORDINALITY AS b (one, other, place)
        ),
        eager = old.eager + excluded.eager, sent = old.sent + excluded.sent
"""
_CONVERSATIONS = """
    SELECT conversation, max(caller), max(client), min(at), max(at),
        count(*) FILTER (WHERE kind = 'search'), count(*) FILTER (WHERE kind = 'call'), max(id)
    FROM event WHERE conversation <> '' AND id > (SELECT max(id) FROM event) - %s
    GROUP BY conversation HAVING max(id) < %s ORDER BY max(id) DESC LIMIT %s
"""
_ROLLUPS = """
    SELECT hour, kind, name, server, code, how, count, seconds, buckets, eager, sent FROM rollup
    WHERE hour >= %s AND (%s OR kind = ANY(%s)) ORDER BY hour, kind, name, server, code, how
"""
_TOTALS = """
    SELECT {columns}, sum(count)::bigint, sum(seconds), json_agg(buckets), sum(eager)::bigint,
        sum(sent)::bigint
    FROM rollup WHERE hour >= %s AND kind = ANY(%s) AND %s IN ('', name)
    GROUP BY {columns} ORDER BY {columns}
"""
_SWEEP = (
    "UPDATE event SET query = '' WHERE query <> '' AND seen <= %(seen)s - %(query_days)s",
    """
    DELETE FROM event WHERE id < (
        SELECT id FROM event WHERE seen >= %(seen)s - %(days)s ORDER BY id LIMIT 1
    )
    """,
    "DELETE FROM rollup WHERE seen < %(seen)s - %(rollup_days)s",
    """
    DELETE FROM rollup WHERE seen <= (
        SELECT seen FROM rollup ORDER BY seen DESC LIMIT 1 OFFSET %(most_rollups)s
    )
    """,
)
_TOO_MANY = """
    DELETE FROM event WHERE kind = %(kind)s AND id <= (
        SELECT id FROM event WHERE kind = %(kind)s ORDER BY id DESC LIMIT 1 OFFSET %(rows)s
    )
"""


class PostgresEvents:
    """The events of one tenant. Keeps `EventStore`."""

    def __init__(self, tenant: TenantDatabase, retention: Retention) -> None:
        self._tenant = tenant
        self._retention = retention
        self._folder = RollupFolder()
        self._unswept = retention.rows

    def write(self, events: Sequence[Event]) -> Sequence[int]:
        """As the protocol says."""
        with self._tenant.transaction("quick") as db:
            [(last, seen)] = db.execute(_COUNT, {"number": len(events)}).fetchall()
            ids = range(last - len(events) + 1, last + 1)
            columns = list(zip(*(_row(event) for event in events), strict=True))
            if columns:
                db.execute(_INSERT, (seen, list(ids), *map(list, columns)))
            _add_rollups(db, self._folder.fold(events), seen)
            self._unswept += len(events)
            if self._unswept * SWEEP_SHARE >= self._retention.rows:
                _sweep(db, seen, self._retention)
                self._unswept = 0
        return ids

    def newest(
        self, limit: int, which: EventFilter | None = None, before: int = 0
    ) -> Mapping[int, Event]:
        """As the protocol says."""
        return dict(self._select("id < %s", before or sys.maxsize, which, limit))

    def after(self, id: int, limit: int, which: EventFilter | None = None) -> Mapping[int, Event]:
        """As the protocol says."""
        return dict(reversed(self._select("id > %s", id, which, limit)))

    def rollups(self, since_hour: int, *kinds: EventKind) -> Sequence[tuple[RollupKey, Rollup]]:
        """As the protocol says."""
        with self._tenant.transaction("read") as db:
            rows = db.execute(_ROLLUPS, (since_hour, not kinds, list(kinds))).fetchall()
        return [
            (RollupKey(*row[:6]), Rollup(row[6], row[7], tuple(row[8]), row[9], row[10]))
            for row in rows
        ]

    def totals(
        self, since_hour: int, kinds: Sequence[EventKind], by: Sequence[str], name: str = ""
    ) -> Mapping[RollupKey, Rollup]:
        """As the protocol says."""
        apart = [column for column in RollupKey._fields if column in by]
        columns = sql.SQL(", ").join(map(sql.Identifier, apart))
        query = sql.SQL(_TOTALS).format(columns=columns)
        with self._tenant.transaction("read") as db:
            rows = db.execute(query, (since_hour, list(kinds), name)).fetchall()
        return dict(_total(kinds[0], apart, row) for row in rows)

    def call_times(self, limit: int, since: float) -> Sequence[tuple[str, str, float]]:
        """As the protocol says."""
        query = """
            SELECT caller, name, at FROM event WHERE kind = 'call' AND at >= %s
            ORDER BY id DESC LIMIT %s
        """
        with self._tenant.transaction("read") as db:
            return [(caller, name, at) for caller, name, at in db.execute(query, (since, limit))]

    def conversations(self, limit: int, before: int = 0) -> Sequence[LoggedConversation]:
        """As the protocol says."""
        values = (RECENT, before or sys.maxsize, limit)
        with self._tenant.transaction("read") as db:
            rows = db.execute(_CONVERSATIONS, values).fetchall()
        return [LoggedConversation._make(row) for row in rows]

    def close(self) -> None:
        """As the protocol says."""
        self._tenant.close()

    def _select(
        self, bound: str, id: int, which: EventFilter | None, limit: int
    ) -> Sequence[tuple[int, Event]]:
        clauses = [(bound, (id,)), *(which or EventFilter()).clauses()]
        where = " AND ".join(f"({clause.replace('?', '%s')})" for clause, _ in clauses)
        query = f"SELECT id, {_COLUMNS} FROM event WHERE {where} ORDER BY id DESC LIMIT %s"
        values = [value for _, given in clauses for value in given]
        with self._tenant.transaction("read") as db:
            rows = db.execute(query.encode(), (*values, limit)).fetchall()
        return [(id, _event(row)) for id, *row in rows]


def _row(event: Event) -> Iterator[Any]:
    written = json.dumps(event.facts) if event.facts else "{}"
    facts = written if len(written) <= MOST_FACTS else CUT
    for value in (*event[:-2], facts, event.query):
        yield value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value


def _event(row: Sequence[Any]) -> Event:
    *columns, facts, query = row
    return Event._make((*columns, json.loads(facts), query))


def _add_rollups(db: Connection, folded: Mapping[RollupKey, Rollup], seen: float) -> None:
    rows = [
        (*_plain(key), each.count, each.seconds, list(each.buckets), each.eager, each.sent, seen)
        for key, each in folded.items()
    ]
    db.cursor().executemany(_ADD_ROLLUP, rows)


def _plain(key: RollupKey) -> Iterator[Any]:
    for value in key:
        yield value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value


def _total(kind: EventKind, apart: Sequence[str], row: Sequence[Any]) -> tuple[RollupKey, Rollup]:
    key = RollupKey(0, kind)._replace(**dict(zip(apart, row, strict=False)))
    count, seconds, buckets, eager, sent = row[len(apart) :]
    summed = tuple(map(sum, zip_longest(*buckets, fillvalue=0)))
    return key, Rollup(count, seconds, summed, eager, sent)


def _sweep(db: Connection, seen: float, retention: Retention) -> None:
    """Let go of what is too old, and of what is too much of its kind."""
    values = {
        "seen": seen,
        "days": retention.days * DAY_S,
        "query_days": retention.query_days * DAY_S,
        "rollup_days": KEPT_DAYS * DAY_S,
        "most_rollups": MOST_ROWS,
    }
    for statement in _SWEEP:
        db.execute(statement, values)
    for kind in get_args(EventKind):
        db.execute(_TOO_MANY, {"kind": kind, "rows": retention.rows})
