"""What one caller may name: their part of the pool, and no other."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from toolcrib.execute.refusal import Refused, listed
from toolcrib.model import Entry
from toolcrib.text.nearest import nearest


@dataclass(frozen=True)
class Visible:
    """The entries that a caller may see and call, by name.

    A name beyond them is unknown, whether or not it is in the pool: a refusal never tells which.
    """

    entries: Mapping[str, Entry]

    def resolve(self, name: str) -> Entry:
        """The entry of a name, or of a bare name that only one has.

        Raises `Refused` with the nearest names, or with the candidates.
        """
        if entry := self.entries.get(name):
            return entry
        match self._by_bare.get(name, []):
            case [only]:
                return self.entries[only]
            case []:
                near = listed(nearest(name[:200], list(self.entries)))
                message = f"no tool {name!r:.200} here; search for it first. Nearest: {near}"
                raise Refused("unknown_tool", "resolve", message)
            case several:
                message = f"{name!r} fits several tools; use one of these names: {listed(several)}"
                raise Refused("ambiguous_name", "resolve", message)

    def among(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the names that this caller may see."""
        return tuple(name for name in names if name in self.entries)

    @cached_property
    def _by_bare(self) -> Mapping[str, list[str]]:
        bare: dict[str, list[str]] = {}
        for entry in self.entries.values():
            bare.setdefault(entry.bare, []).append(entry.name)
        return {name: sorted(candidates) for name, candidates in bare.items()}
