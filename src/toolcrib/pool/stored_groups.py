"""Rows of a pool pack in groups: all that have a number in common, told from its columns at once.

Names are read when somebody walks over a group. How many there are, and whether one is among
them, is known without.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolcrib.model import EntryTraits, State
from toolcrib.pool.definition_codec import GROUPING_TRAITS, Traits, traits_of
from toolcrib.pool.pool_pack import STATES, PoolPack

NO_GROUP = -1


class NamesOfRows(Collection[str]):
    """The names of some rows: those with this number."""

    __slots__ = ("_number", "_numbers", "_pack", "_rows")

    def __init__(
        self, pack: PoolPack, rows: NDArray[np.intp], numbers: NDArray[np.int64], number: int
    ) -> None:
        self._pack = pack
        self._rows = rows
        self._numbers = numbers
        self._number = number

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return (self._pack.name(row) for row in self._rows.tolist())

    def __contains__(self, name: object) -> bool:
        row = self._pack.row_of(name) if isinstance(name, str) else None
        return row is not None and int(self._numbers[row]) == self._number


class StoredFactTexts(NamedTuple):
    """The names by the text of the facts that were written of them, and the text of a name."""

    names: Mapping[str, Collection[str]]
    pack: PoolPack

    def text_of(self, name: str) -> str | None:
        """The text that was written of an entry in the pack."""
        row = self.pack.row_of(name)
        return None if row is None else self.pack.fact(row)


class RowColumns:
    """The columns of a pack as arrays, for questions about all rows at once.

    Rows that are `without` count as not there.
    """

    def __init__(self, pack: PoolPack, without: Collection[int] = ()) -> None:
        self._pack = pack
        self._without = np.fromiter(without, np.intp, len(without))

    def groups(self, states: tuple[State | None, ...]) -> Mapping[EntryTraits, Collection[str]]:
        """The names by traits of all rows whose source has a state."""
        found: dict[EntryTraits, Collection[str]] = {}
        for number, rows in _split(self._group_numbers):
            if number == NO_GROUP:
                continue
            source, traits, held = number >> 16, traits_of(number >> 3 & 0x1FFF), number & 7
            at_source = states[source]
            if at_source is not None:
                state = STATES[held - 1] if held else at_source
                names = NamesOfRows(self._pack, rows, self._group_numbers, number)
                found[self._traits(source, traits, state)] = names
        return found

    def facts(self, version: str, states: tuple[State | None, ...]) -> StoredFactTexts | None:
        """The names by the facts of this version of all rows whose source has a state."""
        if self._pack.facts_version != version:
            return None
        texts, sources = self._pack.fact_texts, self._pack.array("row_sources", np.uint32)
        is_here = np.array([each is not None for each in states], np.bool_)[sources]
        is_here[self._without] = False
        facts = self._pack.array("facts", np.uint32).astype(np.int64)
        numbers = np.where(is_here, facts, NO_GROUP)
        names = {
            texts[number]: NamesOfRows(self._pack, rows, numbers, number)
            for number, rows in _split(numbers)
            if number != NO_GROUP
        }
        return StoredFactTexts(names, self._pack)

    def _traits(self, source: int, traits: Traits, state: State) -> EntryTraits:
        packed = self._pack.sources[source]
        return EntryTraits(
            traits.kind,
            packed.kind,
            packed.id,
            "",
            traits.permission_kind,
            traits.searchable,
            traits.packaged,
            state,
            traits.defer,
            traits.required,
        )

    @cached_property
    def _group_numbers(self) -> NDArray[np.int64]:
        """Of every row its source, its traits and the state that holds it back."""
        pack = self._pack
        sources = pack.array("row_sources", np.uint32).astype(np.int64)
        traits = pack.array("traits", np.uint32).astype(np.int64) & GROUPING_TRAITS
        numbers = sources << 16 | traits << 3 | pack.array("held", np.uint8)
        numbers[self._without] = NO_GROUP
        return numbers


def _split(numbers: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """The rows of each number."""
    if not len(numbers):
        return
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-2))
    for rows in np.split(order, starts[1:]):
        yield int(numbers[rows[0]]), rows
