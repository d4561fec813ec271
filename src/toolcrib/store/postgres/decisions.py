"""What was decided about definitions, in a database that several gateways share.

The same rules as in a file (`store.decisions`), and the same seals in another shape (`seal_tree`).
A decision is acknowledged once it is on the disk of the server, and on that of a standby where the
server waits for one. Writers of one tenant take turns. What a broken seal covers approves nothing.
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from toolcrib.errors import StoreError
from toolcrib.store.decision_rows import Decision, FiledSource
from toolcrib.store.decisions import DAY_S, RETENTION_S, ToolDecisions
from toolcrib.store.postgres.database import ANSWER_S, Connection
from toolcrib.store.postgres.seal_tree import NOTHING, Resealing, SealSnapshot, SealTree
from toolcrib.store.postgres.sealing import Sealer, derived_key
from toolcrib.store.postgres.tenant import TenantDatabase
from toolcrib.store.sealed_rows import SourceRows
from toolcrib.store.seals import SealCounter

_ROWS = """
    SELECT source, name, verdict, pin, by, at, definition FROM decision
    WHERE source = %s ORDER BY name, verdict
"""
_PUT_ENTRY = """
    INSERT INTO decision_configuration (source, entry) VALUES (%s, %s)
    ON CONFLICT (tenant, source) DO UPDATE SET entry = excluded.entry
"""
_MOVE_ENTRY = "UPDATE decision_configuration SET source = %s WHERE source = %s"
_TABLES = ("decision", "decision_configuration", "decision_source", "decision_bucket")
RESTORE_S = 600.0
TRUST_S = 60.0
"""How long the first list of a server may take: some have thousands of tools, and many come at
once, where a gateway starts."""
_PUT = """
    INSERT INTO decision (source, name, verdict, pin, by, at, definition)
    VALUES (%s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (tenant, source, name, verdict) DO UPDATE SET
        pin = excluded.pin, by = excluded.by, at = excluded.at, definition = excluded.definition
"""


class _Block(NamedTuple):
    """A transaction that decides: its connection, the seals that it found, and those it makes."""

    db: Connection
    found: SealSnapshot
    sealing: Resealing


class PostgresDecisions:
    """The decisions of one tenant. Keeps `DecisionStore`.

    `counter` is where this machine notes how many there were: an older copy of the database is
    found out by it, also after a restart.
    """

    def __init__(
        self, tenant: TenantDatabase, key: bytes, counter: SealCounter | None = None
    ) -> None:
        self._tenant = tenant
        self._sealer = Sealer(derived_key(key, "decisions", tenant.tenant))
        self._tree = SealTree(self._sealer, counter, tenant.place)
        self._today: float | None = None
        self._begin()

    def check_current(self) -> None:
        """As the protocol says: the database is asked each time."""

    @property
    def trusts_first_sight(self) -> bool:
        """As the protocol says."""
        with self._reading() as (_, found):
            return found.sources.first_sight

    def version(self) -> object:
        """As the protocol says."""
        with self._tenant.transaction("read") as db:
            return db.execute("SELECT count, seal FROM decision_whole").fetchone()

    def mark(self, source: str) -> str:
        """As the protocol says."""
        with self._reading() as (_, found):
            return found.sources.mark(source)

    def of(self, source: str) -> Mapping[str, ToolDecisions]:
        """As the protocol says."""
        with self._reading() as (db, found):
            rows = self._checked(db, found, source).rows
        by_name: dict[str, ToolDecisions] = {}
        for row in rows:
            earlier = by_name.get(row.name, ToolDecisions())
            by_name[row.name] = earlier._replace(**{row.verdict: row})
        return by_name

    def elsewhere(self, source: str) -> Mapping[str, Decision]:
        """As the protocol says."""
        newest: dict[str, Decision] = {}
        with self._reading() as (db, found):
            for other in self._elsewhere(db, found, source):
                newest |= {row.name: row for row in other.rows if _is_newer(row, newest)}
        return newest

    def configuration(self, source: str) -> str | None:
        """As the protocol says."""
        with self._reading() as (db, found):
            return self._checked(db, found, source).entry

    def configuration_elsewhere(self, source: str) -> str | None:
        """As the protocol says."""
        last: tuple[float, str | None] = 0.0, None
        with self._reading() as (db, found):
            for other in self._elsewhere(db, found, source):
                at = max((row.at for row in other.rows if row.verdict == "approved"), default=-1.0)
                last = (at, other.entry) if at > last[0] else last
        return last[1]

    def configured(self, source: str, entry: str) -> None:
        """As the protocol says."""
        with self._reading() as (db, found):
            if source not in found.sources.seals or _entry(db, source) == entry:
                return
        with self._writing() as block:
            self._checked(block.db, block.found, source)
            block.db.execute(_PUT_ENTRY, (source, entry))
            _seal(block, source)

    def inherit(self, source: str, former: str, renew: Callable[[Decision], Decision]) -> None:
        """As the protocol says."""
        with self._reading() as (_, found):
            if source in found.sources.seals or former not in found.sources.seals:
                return
        with self._writing() as block:
            rows = self._checked(block.db, block.found, former).rows
            if source not in block.found.sources.seals:
                _put(block.db, [renew(row)._replace(source=source) for row in rows])
                block.db.execute(_MOVE_ENTRY, (source, former))
                _seal(block, source)
                _remove(block.db, former)
                _seal(block, former)

    def is_known(self, source: str) -> bool:
        """As the protocol says."""
        with self._reading() as (_, found):
            return _is_known(found, source)

    def trust(self, source: str, seen: Mapping[str, tuple[str, str]]) -> None:
        """As the protocol says."""
        with self._reading() as (_, found):
            if _is_known(found, source) or not found.sources.first_sight:
                return
        with self._writing(within_s=TRUST_S) as block:
            if _is_known(block.found, source) or not block.found.sources.first_sight:
                return
            now = time.time()
            rows = [
                Decision(source, name, "approved", pin, "first sight", now, definition)
                for name, (pin, definition) in seen.items()
            ]
            _put(block.db, rows)
            _seal(block, source)

    def used(self, *sources: str) -> None:
        """As the protocol says."""
        with self._reading() as (_, found):
            used = found.sources.used
        if not used:
            return
        today = self._today = self._today or min(time.time(), max(used.values()) + DAY_S)
        if not any(today - used[each] >= DAY_S for each in sources if each in used):
            return
        with self._writing() as block:
            for each in dict.fromkeys(sources):
                if each in block.found.sources.used:
                    block.sealing.mark_used(each, today)
            _let_go(block, today)

    def approve(self, decision: Decision) -> None:
        """As the protocol says."""
        with self._deciding(decision.source) as block:
            which = decision.source, decision.name
            block.db.execute("DELETE FROM decision WHERE source = %s AND name = %s", which)
            _put(block.db, [decision])

    def reject(self, decision: Decision) -> None:
        """As the protocol says."""
        with self._deciding(decision.source) as block:
            sql = """
                DELETE FROM decision
                WHERE source = %s AND name = %s AND verdict = 'approved' AND pin = %s
            """
            block.db.execute(sql, (decision.source, decision.name, decision.pin))
            _put(block.db, [decision])

    def set_first_sight(self, *, trusted: bool) -> None:
        """As the protocol says."""
        with self._writing(mends=True) as block:
            block.sealing.first_sight = trusted

    def filed(self) -> Sequence[FiledSource]:
        """All there is, by source. Raises `StoreError` if any of it is in doubt."""
        with self._tenant.transaction("read", RESTORE_S) as db:
            found = self._tree.read(db)
            if found.sources.problem:
                raise StoreError(found.sources.problem)
            every = [(each, self._checked(db, found, each)) for each in found.sources.sources]
        return [FiledSource(source, filed.rows, filed.entry) for source, filed in every]

    def restore(self, filed: Iterable[FiledSource], *, trusted: bool) -> None:
        """Put these in place of all there is, and whether first sight is trusted."""
        with self._tenant.change("decisions", RESTORE_S) as (db, _):
            count = self._tree.next_count(db)
            for table in _TABLES:
                db.execute(f"DELETE FROM {table}".encode())
            sealing = Resealing(db, self._sealer, count, NOTHING)
            for source, rows, entry in filed:
                _put(db, rows)
                if entry is not None:
                    db.execute(_PUT_ENTRY, (source, entry))
                sealing.seal(source, SourceRows([*rows], entry).sealed())
            sealing.first_sight = trusted
            sealing.finish()
        self._tree.note(count)

    def close(self) -> None:
        """As the protocol says; the connections are closed with their database."""
        self._tenant.close()

    def _begin(self) -> None:
        """Seal that nothing is decided yet; not if something was once, and is no more."""
        with self._tenant.transaction("read") as db:
            if _was_begun(db):
                return
        with self._tenant.change("decisions") as (db, _):
            if not _was_begun(db) and not self._tree.was_counted:
                sealing = Resealing(db, self._sealer, 1, NOTHING)
                sealing.first_sight = True
                sealing.finish()

    @contextmanager
    def _reading(self) -> Generator[tuple[Connection, SealSnapshot]]:
        """One state of the rows, and what their seals vouch for."""
        with self._tenant.transaction("read") as db:
            yield db, self._tree.read(db)

    @contextmanager
    def _writing(self, *, mends: bool = False, within_s: float = ANSWER_S) -> Generator[_Block]:
        """One transaction, sealed at its end. Raises `StoreError` if the whole is under doubt."""
        with self._tenant.change("decisions", within_s) as (db, _):
            found = self._tree.read(db)
            if found.sources.problem and not mends:
                raise StoreError(found.sources.problem)
            count = self._tree.next_count(db)
            sealing = Resealing(db, self._sealer, count, found)
            block = _Block(db, found, sealing)
            if found.sources.problem:
                _start_afresh(block)
            yield block
            sealing.finish()
        self._tree.note(count)

    @contextmanager
    def _deciding(self, source: str) -> Generator[_Block]:
        """The operator's transaction about a source; what is under a broken seal goes."""
        with self._writing(mends=True) as block:
            if self._of(block.db, block.found, source).problem:
                _remove(block.db, source)
            yield block
            _seal(block, source)

    def _of(self, db: Connection, found: SealSnapshot, source: str) -> SourceRows:
        filed = _filed(db, source)
        seal = found.sources.seal_of(source)
        return filed._replace(problem=self._tree.broken_at(source, seal, filed.sealed()))

    def _checked(self, db: Connection, found: SealSnapshot, source: str) -> SourceRows:
        """What is filed about a source. Raises `StoreError` if it is under a broken seal."""
        filed = self._of(db, found, source)
        if problem := found.sources.problem or filed.problem:
            raise StoreError(problem)
        return filed

    def _elsewhere(self, db: Connection, found: SealSnapshot, source: str) -> Iterator[SourceRows]:
        every = (self._of(db, found, other) for other in found.sources.others(source))
        return (filed for filed in every if not filed.problem)


def _was_begun(db: Connection) -> bool:
    """Whether something of the tenant was ever sealed."""
    sql = """
        SELECT EXISTS (SELECT FROM decision_whole)
            OR EXISTS (SELECT FROM decision_source)
    """
    [(begun,)] = db.execute(sql).fetchall()
    return bool(begun)


def _filed(db: Connection, source: str) -> SourceRows:
    rows = [Decision(*row) for row in db.execute(_ROWS, (source,)).fetchall()]
    return SourceRows(rows, _entry(db, source))


def _entry(db: Connection, source: str) -> str | None:
    sql = "SELECT entry FROM decision_configuration WHERE source = %s"
    row = db.execute(sql, (source,)).fetchone()
    return row[0] if row else None


def _is_known(found: SealSnapshot, source: str) -> bool:
    return source in found.sources.seals or bool(found.sources.others(source))


def _put(db: Connection, rows: Sequence[Decision]) -> None:
    db.cursor().executemany(_PUT, rows)


def _seal(block: _Block, source: str) -> None:
    block.sealing.seal(source, _filed(block.db, source).sealed())


def _remove(db: Connection, source: str) -> None:
    db.execute("DELETE FROM decision WHERE source = %s", (source,))
    db.execute("DELETE FROM decision_configuration WHERE source = %s", (source,))


def _start_afresh(block: _Block) -> None:
    """Nothing is approved any more; that a server is known is not forgotten."""
    block.db.execute("DELETE FROM decision")
    block.db.execute("DELETE FROM decision_configuration")
    block.db.execute("DELETE FROM decision_bucket")
    for (source,) in block.db.execute("SELECT source FROM decision_source").fetchall():
        block.sealing.seal(source, ())
    block.sealing.first_sight = False


def _let_go(block: _Block, now: float) -> None:
    """Part with decisions about servers long gone; that they are known is not forgotten."""
    sql = "SELECT source FROM decision_source WHERE used < %s"
    for (source,) in block.db.execute(sql, (now - RETENTION_S,)).fetchall():
        _remove(block.db, source)
        _seal(block, source)


def _is_newer(row: Decision, found: Mapping[str, Decision]) -> bool:
    """Whether it is an approval, and later than what was found of its name."""
    return row.verdict == "approved" and (row.name not in found or found[row.name].at < row.at)
