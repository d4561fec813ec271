"""Whose names could be meant as another source's, as sources come and go.

A stem is how all names of a source begin (`mcp_google_`). When one comes or goes, the names that
begin with it have to be looked at again: these find them, and nobody compares all with all.
"""

from collections.abc import Collection, Iterable, Iterator

from toolcrib.names import NameStems, Origin, SourceStems, prefixes
from toolcrib.pool.source_record import SourceRecord
from toolcrib.pool.stored_sources import StoredSources


class NearStems:
    """The stems of all sources, and those that came or went since the last settlement."""

    def __init__(self) -> None:
        self._stems = SourceStems()
        self._reserved: tuple[Origin, ...] = ()
        self._touched: dict[str, None] = {}

    def add(self, origin: Origin) -> None:
        """Count a source in."""
        self._stems.add(origin)
        self._touched[origin.stem] = None

    def remove(self, origin: Origin) -> None:
        """Count a source out."""
        self._stems.remove(origin)
        self._touched[origin.stem] = None

    def reserve(self, origins: Iterable[Origin]) -> None:
        """Count these as sources that are there, in place of those that were reserved before."""
        before, self._reserved = self._reserved, tuple(origins)
        for each in self._reserved:
            self.add(each)
        for each in before:
            self.remove(each)

    def settled(self) -> None:
        """What came and went has been looked at."""
        self._touched = {}

    def overlaps(self, origin: Origin) -> NameStems:
        """See `SourceStems.overlaps`."""
        return self._stems.overlaps(origin)

    def stored_nearby(
        self, records: Collection[SourceRecord], stored: StoredSources
    ) -> Iterator[SourceRecord]:
        """Those of the stored sources of which a name could be meant as one of another source."""
        by_stem = {each.origin.stem: each for each in records} if any(self._touched) else {}
        for touched in self._touched if by_stem else ():
            pairs = [(part, touched) for part in prefixes(touched)]
            pairs += [(touched, longer) for longer in self._stems.longer(touched)]
            for stem, other in pairs:
                record = by_stem.get(stem)
                if record and self._is_near(record, other, stored):
                    yield record

    def _is_near(self, record: SourceRecord, stem: str, stored: StoredSources) -> bool:
        """Whether a name of a stored source may begin with the stem of another one."""
        own, at = record.origin.stem, record.stored
        if at is None or stem == own:
            return self._stems.is_shared(own)
        return stem in self._stems and stored.has_bare(at, stem[len(own) :])

    def origins_nearby(self, records: Iterable[SourceRecord]) -> Iterator[Origin]:
        """The origins in memory whose name may begin with a stem that came or went."""
        touched = frozenset(filter(None, self._touched))
        parts = {part for stem in touched for part in prefixes(stem)}
        heads = tuple({stem.partition("_")[0] for stem in touched})
        for record in records if touched else ():
            is_counted = [key in self._stems for key in record.keys]
            if not all(is_counted) or any(key.stem in parts for key in record.keys):
                yield from (each for each in record.rows if _begins(each, heads, touched))


def _begins(origin: Origin, heads: tuple[str, ...], stems: Collection[str]) -> bool:
    """Whether the name of an origin begins with one of the stems."""
    begins = (origin.prefix or origin.own_name).startswith(heads)
    return begins and any(part in stems for part in prefixes(origin.text))
