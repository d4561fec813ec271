"""A source that was taken in, and the place of one of the things that it lists."""

from toolcrib.model import Entry
from toolcrib.names import Origin
from toolcrib.pool.listing import Listed, Listing
from toolcrib.sources import Source


class SourceRecord:
    """A source, what it listed and under which stamp.

    `stored` is its number in the pack while its rows are looked up there; `rows` is empty then.
    `keys` are the sources that its rows are of, each as the origin of nothing.
    """

    __slots__ = ("is_packaged", "keys", "number", "origin", "rows", "source", "stamp", "stored")

    def __init__(self, source: Source, number: int) -> None:
        self.source = source
        self.number = number
        self.origin = _origin_of(source)
        self.rows: Listing = {}
        self.keys: frozenset[Origin] = frozenset()
        self.is_packaged = False
        self.stamp = ""
        self.stored: int | None = None

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

    def list(self, rows: Listing) -> frozenset[Origin]:
        """Have these rows from now on; the keys that are no longer any of its."""
        before = self.keys
        self.rows = rows
        self.keys = frozenset(Origin(each.prefix, each.source_id, "") for each in rows)
        self.is_packaged = next((row.packaged for row in rows.values()), False)
        return before - self.keys


class Place:
    """An origin: who lists it, whoever counts first, and its entry as of the last settlement."""

    __slots__ = ("claims", "entry", "listed")

    def __init__(self) -> None:
        self.claims: tuple[SourceRecord, ...] = ()
        self.listed: Listed | None = None
        self.entry: Entry | None = None

    def claim(self, record: SourceRecord) -> None:
        """Count a source among those that list it."""
        if record not in self.claims:
            self.claims = tuple(sorted((*self.claims, record), key=lambda each: each.rank))

    def unclaim(self, record: SourceRecord) -> None:
        """Count a source out."""
        self.claims = tuple(each for each in self.claims if each is not record)


def _origin_of(source: Source) -> Origin:
    """A source as the origin of nothing."""
    prefix = source.kind if source.kind in ("mcp", "sdk") else ""
    return Origin(prefix, source.id or "" if prefix else "", "")
