"""What one caller may name: their part of the pool, and no other."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from toolcrib.execute.refusal import Refused, listed
from toolcrib.model import Entry
from toolcrib.text.nearest import nearest


def unknown_words(name: str, why: str) -> str:
    """That there is no such tool, for this reason."""
    return f"no tool {name!r:.200} here: {why}"


def _no_reason(_name: str) -> str:
    return ""


@dataclass(frozen=True)
class Visible:
    """The entries that a caller may see and call, by name; `why` may say why one is not there.

    A name beyond them is unknown, whether or not it is in the pool: a refusal never tells which.
    """

    entries: Mapping[str, Entry]
    why: Callable[[str], str] = _no_reason

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
                why = self.why(name)
                told = unknown_words(name, why) if why else message
                raise Refused("unknown_tool", "resolve", told)
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
