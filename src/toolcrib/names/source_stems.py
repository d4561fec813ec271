"""Which names could be meant as another source's: the stems of all sources, looked up by name.

`mcp_google_drive_delete` may be `drive_delete` of `google` or `delete` of `google_drive`. A stem
ends in `_`, so the stems that a name begins with are among its parts up to each `_`: nothing is
compared with every source.
"""

from collections.abc import Iterable, Iterator, Mapping

from toolcrib.names.origin import NameStems, Origin


class SourceStems:
    """The sources that are there, each as the origin of nothing, by how their names begin."""

    def __init__(self, sources: Iterable[Origin] = ()) -> None:
        self._by_stem: dict[str, dict[Origin, int]] = {}
        self._longer: dict[str, set[str]] = {}
        for source in sources:
            self.add(source)

    def add(self, source: Origin) -> None:
        """Count a source in; without an id it has no stem of its own."""
        if source.source_id:
            holders = self._by_stem.setdefault(source.stem, {})
            holders[source] = holders.get(source, 0) + 1
            for part in prefixes(source.stem[:-1]):
                self._longer.setdefault(part, set()).add(source.stem)

    def remove(self, source: Origin) -> None:
        """Count a source out that was counted in."""
        if source.source_id:
            holders = self._by_stem[source.stem]
            holders[source] -= 1
            if not holders[source]:
                del holders[source]
            if not holders:
                del self._by_stem[source.stem]
                for part in prefixes(source.stem[:-1]):
                    self._longer[part].discard(source.stem)

    def __contains__(self, source: object) -> bool:
        """Whether a source is here, or any with this stem."""
        if isinstance(source, Origin):
            return bool(source.source_id) and source in self._by_stem.get(source.stem, ())
        return source in self._by_stem

    def is_shared(self, stem: str) -> bool:
        """Whether several sources have this stem: their ids differ in illegal characters alone."""
        return len(self._by_stem.get(stem, ())) > 1

    def longer(self, stem: str) -> Iterable[str]:
        """The stems that begin with this one, without itself."""
        return self._longer.get(stem, ())

    def overlaps(self, origin: Origin) -> NameStems:
        """The stems of other sources that its name begins with as well as its own, in order.

        A name that somebody writes could then mean one of theirs. Shorter stems are none: of two
        sources that a name may be of, the one with the longer id is meant.
        """
        own = Origin(origin.prefix, origin.source_id, "")
        found = (part for part in prefixes(origin.text) if part in self._by_stem)
        if own in self:
            found = (part for part in found if self._is_nearer(part, own))
        return tuple(found)

    def _is_nearer(self, stem: str, own: Origin) -> bool:
        """Whether a name that begins with mine may be meant as one with this stem.

        Of two ids that differ in illegal characters alone, whoever has the id as it is written.
        """
        if stem != own.stem:
            return len(stem) > len(own.stem)
        return self.is_shared(stem) and own.spellings().stems[0] != stem


def overlaps(origins: Iterable[Origin], sources: Iterable[Origin]) -> Mapping[Origin, NameStems]:
    """For each origin, the stems of other sources that its name begins with; see `SourceStems`.

    `sources` are all sources, each as the origin of nothing. Only origins that have any are there.
    """
    stems = SourceStems(sources)
    found = ((origin, stems.overlaps(origin)) for origin in origins)
    return {origin: near for origin, near in found if near}


def prefixes(text: str) -> Iterator[str]:
    """The parts of a text up to each `_` and with it, the shortest first."""
    at = text.find("_")
    while at >= 0:
        yield text[: at + 1]
        at = text.find("_", at + 1)
