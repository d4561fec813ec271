"""The seals of a tenant's decisions: that none was altered, taken away or put back.

    the rows of a source → its seal → the seal of its bucket → the seal of the whole, with a count

As in a file of decisions (`store.seals`), but that the sources lie in buckets: so a decision costs
the seals of one bucket and not those of all sources. Whoever alters a row breaks the seal of that
source; who touches seals, takes a source away or puts an older one back, breaks the whole.

A snapshot remembers the seals of one count, and reads no more than what was sealed since. A count
that goes back is found out by whoever has seen a later one, also across a restart if it has a
place to note it (`SealCounter`).
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

from toolcrib.store.postgres.database import Connection
from toolcrib.store.postgres.sealing import Sealer
from toolcrib.store.seals import SealCounter, SealedSources

_PUT_SOURCE = """
    INSERT INTO decision_source (source, bucket, used, seal, count) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (tenant, source) DO UPDATE SET bucket = excluded.bucket, used = excluded.used,
        seal = excluded.seal, count = excluded.count
"""
_PUT_BUCKET = """
    INSERT INTO decision_bucket (bucket, seal) VALUES (%s, %s)
    ON CONFLICT (tenant, bucket) DO UPDATE SET seal = excluded.seal
"""
_PUT_WHOLE = """
    INSERT INTO decision_whole (count, first_sight, seal) VALUES (%s, %s, %s)
    ON CONFLICT (tenant) DO UPDATE
    SET count = excluded.count, first_sight = excluded.first_sight, seal = excluded.seal
"""


class SourceSeal(NamedTuple):
    """The seal of a source, in hexadecimal digits, and when somebody last had it."""

    used: float
    seal: str


@dataclass(frozen=True, slots=True)
class SealSnapshot:
    """The seals as of one count. `sources` says what they vouch for, or what is wrong."""

    count: int
    seal: bytes
    buckets: Mapping[int, bytes]
    members: Mapping[int, Mapping[str, SourceSeal]]
    sources: SealedSources


NOTHING = SealSnapshot(
    0, b"", {}, {}, SealedSources("", first_sight=False, seals={}, used={}, sources=())
)


class SealTree:
    """Over the tables `decision_source`, `decision_bucket` and `decision_whole` of a tenant.

    Each method is called in a transaction that sees one state.
    """

    def __init__(self, sealer: Sealer, counter: SealCounter | None, place: str) -> None:
        self._sealer = sealer
        self._counter = counter
        self._place = place
        self._noting = Lock()
        self._last = NOTHING

    @property
    def was_counted(self) -> bool:
        """Whether there were decisions here once."""
        return self._counter is not None and self._counter.path.exists()

    def read(self, db: Connection) -> SealSnapshot:
        """The seals as they are now, and what is wrong with the whole."""
        last = self._last
        try:
            outside = max(last.count, self._counter.read() or 0) if self._counter else last.count
        except ValueError:
            return self._doubt("the count of decisions on this machine was altered")
        rows = db.execute("SELECT count, first_sight, seal FROM decision_whole").fetchall()
        if not rows:
            return self._doubt("the decisions are missing")
        ((count, first_sight, seal),) = rows
        if (count, seal) == (last.count, last.seal) and count >= outside:
            return last
        if count < outside:
            return self._doubt("an older copy was put in place")
        read = self._read_since(db, last, count, seal, first_sight=first_sight)
        if read.sources.problem and last.count:  # perhaps not what we remember
            read = self._read_since(db, NOTHING, count, seal, first_sight=first_sight)
        if not read.sources.problem:
            self._keep(read)
        return read

    def next_count(self, db: Connection) -> int:
        """One more than was ever counted, here or outside."""
        rows = db.execute("SELECT count FROM decision_whole").fetchall()
        return max(rows[0][0] if rows else 0, self._last.count, self._noted()) + 1

    def note(self, count: int) -> None:
        """Note outside that so many were counted: it never goes back, whichever thread is last."""
        if self._counter is None:
            return
        with self._noting:
            if count > self._noted():
                self._counter.write(count)

    def _noted(self) -> int:
        try:
            return (self._counter.read() or 0) if self._counter else 0
        except ValueError:
            return 0

    def broken_at(self, source: str, seal: object, rows: Sequence[object]) -> str:
        """What is wrong with the seal of a source that has these rows; nothing if it is whole."""
        if (seal is None and not rows) or self._sealer.is_sealed(seal, [source, *rows]):
            return ""
        whose = source.partition(":")[2].rpartition("#")[0] or source
        return self._problem(f"the decisions about {whose!r} were altered, or some are missing")

    def _keep(self, read: SealSnapshot) -> None:
        if read.count > self._last.count:
            self.note(read.count)
            self._last = read

    def _read_since(
        self, db: Connection, last: SealSnapshot, count: int, seal: bytes, *, first_sight: bool
    ) -> SealSnapshot:
        """What is sealed now, by what was read before and what was sealed since."""
        altered = "decisions were altered, or some are missing"
        buckets = dict(db.execute("SELECT bucket, seal FROM decision_bucket").fetchall())
        if not self._sealer.is_sealed(seal, whole_values(count, buckets, first_sight=first_sight)):
            return self._doubt(altered)
        members = {bucket: dict(every) for bucket, every in last.members.items()}
        sql = (
            "SELECT bucket, source, used, encode(seal, 'hex') FROM decision_source WHERE count > %s"
        )
        for bucket, source, *rest in db.execute(sql, (last.count,)).fetchall():
            members.setdefault(bucket, {})[source] = SourceSeal(*rest)
        for bucket in members.keys() | buckets.keys():
            if buckets.get(bucket) == last.buckets.get(bucket):
                continue
            values = bucket_values(bucket, members.get(bucket, {}))
            if not self._sealer.is_sealed(buckets.get(bucket), values):
                return self._doubt(altered)
        return SealSnapshot(
            count, seal, buckets, members, _sources(members, first_sight=first_sight)
        )

    def _doubt(self, what: str) -> SealSnapshot:
        sources = NOTHING.sources._replace(problem=self._problem(what))
        return SealSnapshot(0, b"", {}, {}, sources)

    def _problem(self, what: str) -> str:
        rest = "so they approve nothing; look at each tool again: `toolcrib review`"
        return f"{self._place}: {what}, {rest}"


class Resealing:
    """One transaction that seals anew: the sources that it touches, their buckets, the whole.

    It goes by the seals that were found whole, and not by the rows as they lie there now: what
    another hand has put into a bucket meanwhile stays unsealed.
    """

    def __init__(self, db: Connection, sealer: Sealer, count: int, found: SealSnapshot) -> None:
        self.first_sight = found.sources.first_sight
        self._db = db
        self._sealer = sealer
        self._count = count
        self._found = found
        self._touched: dict[int, dict[str, SourceSeal]] = {}

    def seal(self, source: str, rows: Sequence[object]) -> None:
        """Seal a source that has these rows; it is known from then on."""
        known = self._members(source).get(source)
        seal = self._sealer.seal([source, *rows])
        self._put(source, SourceSeal(known.used if known else time.time(), seal.hex()))

    def mark_used(self, source: str, used: float) -> None:
        """Note when somebody last had a source that is known."""
        self._put(source, self._members(source)[source]._replace(used=used))

    def finish(self) -> None:
        """Seal the buckets that were touched, and the whole."""
        new = {
            bucket: self._sealer.seal(bucket_values(bucket, members))
            for bucket, members in self._touched.items()
        }
        self._db.cursor().executemany(_PUT_BUCKET, list(new.items()))
        buckets = {**self._found.buckets, **new}
        values = whole_values(self._count, buckets, first_sight=self.first_sight)
        row = (self._count, self.first_sight, self._sealer.seal(values))
        self._db.execute(_PUT_WHOLE, row)

    def _members(self, source: str) -> dict[str, SourceSeal]:
        bucket = bucket_of(source)
        if bucket not in self._touched:
            self._touched[bucket] = dict(self._found.members.get(bucket, {}))
        return self._touched[bucket]

    def _put(self, source: str, sealed: SourceSeal) -> None:
        self._members(source)[source] = sealed
        row = (source, bucket_of(source), sealed.used, bytes.fromhex(sealed.seal), self._count)
        self._db.execute(_PUT_SOURCE, row)


def bucket_of(source: str) -> int:
    """Where a source lies, by its name alone."""
    return hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=1).digest()[0]


def bucket_values(bucket: int, members: Mapping[str, SourceSeal]) -> list[object]:
    """What the seal of a bucket covers."""
    return ["bucket", bucket, *([source, *members[source]] for source in sorted(members))]


def whole_values(count: int, buckets: Mapping[int, bytes], *, first_sight: bool) -> list[object]:
    """What the seal of the whole covers."""
    return ["whole", count, first_sight, *([each, buckets[each].hex()] for each in sorted(buckets))]


def _sources(
    members: Mapping[int, Mapping[str, SourceSeal]], *, first_sight: bool
) -> SealedSources:
    every = dict(sorted(item for each in members.values() for item in each.items()))
    seals = {source: each.seal for source, each in every.items()}
    used = {source: each.used for source, each in every.items()}
    return SealedSources("", first_sight, seals, used, list(every))
