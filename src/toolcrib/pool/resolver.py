"""Which thing a name means: by its full name, or by a shorter one that no other thing has.

    full name      ──▶ the thing that has it
    a shorter one  ──▶ the only thing that has it; of several, `AmbiguousName` with their full names
    neither        ──▶ `UnknownTool` with the nearest full names

One place for all that is named: the tools of the pool, the part of them that a caller may see, the
prompts of servers, the definitions at the operator's desk. Not a search: nothing is guessed.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import Generic, TypeVar

from toolcrib.access import VisibleEntries
from toolcrib.errors import AmbiguousName, UnknownTool
from toolcrib.model import Entry
from toolcrib.names import bare_parts, is_called
from toolcrib.pool.entry_table import EntryDict, EntryTable
from toolcrib.text import list_nearest

LONGEST_NAME = 200

T = TypeVar("T")


def _any_thing(_thing: object) -> bool:
    return True


class NameResolver(Generic[T]):
    """Some things by their full names. Made anew when they change; safe to share between threads.

    `short_names` are the other names of one thing, the more telling first: a name that one thing
    has first and another second means the first of them. `find` stands for them where somebody
    knows already which full names have a short one, in order. `noun` and `where` are for the
    message that there is none: "no tool 'x' here; search for it first".
    """

    def __init__(
        self,
        things: Mapping[str, T],
        short_names: Callable[[T], Sequence[str]] = lambda _thing: (),
        *,
        find: Callable[[str], Sequence[str]] | None = None,
        noun: str = "tool",
        where: str = "here; search for it first",
    ) -> None:
        self.things = things
        self._short_names = short_names
        self._find = find or self._sorted_out
        self._noun = noun
        self._where = where

    def candidates(self, name: str) -> Sequence[T]:
        """All that a name may mean, by full name. Several only where none of them has it whole."""
        return [self.things[full] for full in self._full_names(name)]

    def resolve(
        self,
        name: str,
        *,
        may_name: Callable[[T], bool] = _any_thing,
        why: Callable[[str], str] | None = None,
    ) -> T:
        """The one thing that a name means. Raises `AmbiguousName` and `UnknownTool`.

        Their messages name things for which `may_name` is true, and no others. `why` may say why
        there is no such thing; then that stands in place of the nearest names.
        """
        match self._full_names(name):
            case [only]:
                return self.things[only]
            case []:
                reason = why(name) if why else ""
                raise self._unknown(name, self._nameable(self.things, may_name), reason)
            case several:
                raise ambiguous_name(name, self._nameable(several, may_name), self._noun)

    def _full_names(self, name: str) -> Sequence[str]:
        return (name,) if name in self.things else self._find(name)

    def _sorted_out(self, name: str) -> Sequence[str]:
        return next((level[name] for level in self._by_short_name if name in level), ())

    @cached_property
    def _by_short_name(self) -> Sequence[Mapping[str, Sequence[str]]]:
        """The full names by the first of the short ones, by the second, and on."""
        full_names = sorted(self.things)
        short = [self._short_names(self.things[full]) for full in full_names]
        return [_grouped(level, full_names) for level in zip_longest(*short)]

    def _nameable(
        self, full_names: Sequence[str] | Mapping[str, T], may_name: Callable[[T], bool]
    ) -> list[str]:
        return [full for full in full_names if may_name(self.things[full])]

    def _unknown(self, name: str, full_names: Sequence[str], reason: str) -> UnknownTool:
        if reason:
            return UnknownTool(f"no {self._noun} {name!r:.200} here: {reason}")
        near = list_nearest(name[:LONGEST_NAME], full_names)
        return UnknownTool(f"no {self._noun} {name!r:.200} {self._where}. Nearest: {near}")


def entry_names(entries: Mapping[str, Entry]) -> NameResolver[Entry]:
    """Entries by the names that models see; for short, by the names that their sources have.

    An MCP tool also by the name that other hosts give it: `mcp__github__create_issue`.
    """
    table = entries.all_entries if isinstance(entries, VisibleEntries) else entries
    named = (table if isinstance(table, EntryTable) else EntryDict(table)).named

    def find(name: str) -> Sequence[str]:
        return [e for e in named(name) if e in entries] or [
            e
            for bare in bare_parts(name)
            for e in named(bare)
            if e in entries and is_called(name, entries[e])
        ]

    return NameResolver(entries, find=find)


def ambiguous_name(name: str, full_names: Sequence[str], noun: str = "tool") -> AmbiguousName:
    """That a name fits several things, with the names that fit only one."""
    names = ", ".join(full_names) or "none"
    message = f"{name!r:.200} fits several {noun}s; use one of these names: {names}"
    return AmbiguousName(message)


def _grouped(short: Sequence[str | None], full: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, name in zip(short, full, strict=True):
        if key is not None:
            found.setdefault(key, []).append(name)
    return found
