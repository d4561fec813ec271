"""A source that was taken in, and the place of one of the things that it lists."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from toolcrib.model import Entry
from toolcrib.names import Origin
from toolcrib.pool.listing import Listed, Listing
from toolcrib.sources import Source


class RecordChange(NamedTuple):
    """What a change of the rows of a record comes to beside them.

    `keys_gone` are no longer any of its keys. `is_ranked_anew`: rows that stayed count before or
    after those of others now, and did not so far.
    """

    keys_gone: frozenset[Origin]
    is_ranked_anew: bool


class SourceRecord:
    """A source, what it listed and under which stamp, at which revision.

    `stored` is its number in the pack while rows are looked up there; `rows` are those in memory,
    and `edition` is another object whenever these are others. `alone` is this record, for the many
    places that nobody else claims.
    """

    __slots__ = (
        "_keys",
        "alone",
        "edition",
        "is_packaged",
        "number",
        "origin",
        "revision",
        "rows",
        "source",
        "stamp",
        "stored",
    )

    def __init__(self, source: Source, number: int) -> None:
        self.source = source
        self.number = number
        self.origin = _origin_of(source)
        self.rows: dict[Origin, Listed] = {}
        self.edition = object()
        self.is_packaged = False
        self.stamp = self.revision = ""
        self.stored: int | None = None
        self._keys = Counter[tuple[str, str]]()
        self.alone: tuple[SourceRecord, ...] = (self,)

    @property
    def keys(self) -> frozenset[Origin]:
        """The sources that its rows are of, each as the origin of nothing."""
        own = () if self.stored is None else (self.origin,)
        return frozenset((*own, *(Origin(*each, "") for each in self._keys)))

    @property
    def rank(self) -> tuple[bool, int]:
        """The lowest counts where several list the same: what comes with Toolcrib gives way."""
        return self.is_packaged, self.number

    @property
    def is_uniform(self) -> bool:
        """Whether it has an id, and all that it lists is of just this source."""
        return bool(self.origin.source_id) and self.keys <= {self.origin}

    @property
    def is_stored(self) -> bool:
        """Whether some of its rows lie in a pack."""
        return self.stored is not None or any(row.is_stored for row in self.rows.values())

    def owns(self, origins: Iterable[Origin]) -> bool:
        """Whether all of these are of just this source."""
        return all(each[:2] == self.origin[:2] for each in origins)

    def named(self, names: Iterable[str]) -> Sequence[Origin]:
        """The origins that these own names may have here."""
        keys = self.keys
        return [key._replace(own_name=name) for name in names for key in keys]

    def list(self, rows: Listing) -> RecordChange:
        """Have these rows in memory from now on, and no others."""
        keys, was_packaged = self.keys, self.is_packaged
        self.rows, self._keys = dict(rows), Counter(each[:2] for each in rows)
        return self._changed(keys, was_packaged=was_packaged)

    def change(self, rows: Listing, gone: Iterable[Origin]) -> RecordChange:
        """Have these rows in memory, and some that are there no longer; the rest stays."""
        keys, was_packaged = self.keys, self.is_packaged
        self._keys.update(each[:2] for each in rows if each not in self.rows)
        self._keys -= Counter(each[:2] for each in gone)
        self.rows.update(rows)
        for each in gone:
            del self.rows[each]
        return self._changed(keys, was_packaged=was_packaged)

    def _changed(self, keys: frozenset[Origin], *, was_packaged: bool) -> RecordChange:
        self.edition = object()
        self.is_packaged = next((row.packaged for row in self.rows.values()), False)
        return RecordChange(keys - self.keys, self.is_packaged != was_packaged)


class Place:
    """An origin: who lists it, whoever counts first, and its entry as of the last settlement."""

    __slots__ = ("claims", "entry", "listed")

    def __init__(self) -> None:
        self.claims: tuple[SourceRecord, ...] = ()
        self.listed: Listed | None = None
        self.entry: Entry | None = None

    def claim(self, record: SourceRecord) -> None:
        """Count a source among those that list it."""
        if not self.claims:
            self.claims = record.alone
        elif record not in self.claims:
            self.claims = tuple(sorted((*self.claims, record), key=lambda each: each.rank))

    def unclaim(self, record: SourceRecord) -> None:
        """Count a source out."""
        self.claims = tuple(each for each in self.claims if each is not record)


def _origin_of(source: Source) -> Origin:
    """A source as the origin of nothing."""
    prefix = source.kind if source.kind in ("mcp", "sdk") else ""
    return Origin(prefix, source.id or "" if prefix else "", "")
