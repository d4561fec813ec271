"""The rows of a snapshot: whose they are, and which of them a search may see.

The rows of the base come first, then those of the overlay. A filter of names becomes a mask of
rows once, and is remembered as long as it lives: that of the base for all snapshots over it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.memory.base import IndexBase
from toolcrib.index.memory.overlay import Overlay
from toolcrib.index.memory.postings import Rows
from toolcrib.model import NameFilter

Number = TypeVar("Number", bound=np.integer)
Value = TypeVar("Value", bound=np.generic)

FEW_ROWS = 8
"""Below one in so many visible rows, only those are scored."""

Masks = WeakKeyDictionary[NameFilter, NDArray[np.bool_]]


@dataclass(frozen=True)
class RowColumn(Generic[Value]):
    """A value for each row: those of a base, then those that were added behind them.

    They are not put together: a change of one row would cost as much as all rows.
    """

    stored: NDArray[Value]
    added: NDArray[Value]

    def __len__(self) -> int:
        return len(self.stored) + len(self.added)

    def of(self, rows: Rows) -> NDArray[Value]:
        """The values of some rows."""
        first = len(self.stored)
        if not len(self.added):
            return self.stored[rows]
        late = (rows >= first).nonzero()[0]
        if len(late) == len(rows):
            return self.added[rows - first]
        values = self.stored.take(rows, mode="clip")
        values[late] = self.added[rows[late] - first]
        return values

    @cached_property
    def every(self) -> NDArray[Value]:
        """The values of all rows."""
        return np.concatenate([self.stored, self.added]) if len(self.added) else self.stored


class VisibleRows(NamedTuple):
    """Which rows a search sees: `mask` has one for each row, and None means all.

    If they are few, `rows` are those, ascending.
    """

    mask: NDArray[np.bool_] | None
    rows: Rows | None = None

    def of(self, rows: NDArray[Number]) -> NDArray[Number]:
        """Those of the rows that are visible."""
        return rows if self.mask is None else rows[self.mask[rows]]


ALL_ROWS = VisibleRows(None)


@dataclass(frozen=True)
class SnapshotRows:
    """The rows of a base and an overlay. `masks` are those of the base, shared by its snapshots."""

    base: IndexBase
    overlay: Overlay
    masks: Masks
    _visible: "WeakKeyDictionary[NameFilter, VisibleRows]" = field(
        default_factory=WeakKeyDictionary["NameFilter", "VisibleRows"], repr=False
    )

    def __len__(self) -> int:
        """How many rows there are, those without a document too."""
        return len(self.base) + len(self.overlay.terms.keys)

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.base) - len(self.overlay.gone) + len(self.overlay.documents)

    @cached_property
    def id_of(self) -> Callable[[int], str]:
        """The id of a row."""
        first, stored, added = len(self.base), self.base.ids.word, self.overlay.terms.keys
        if not added:
            return stored
        return lambda row: stored(row) if row < first else added[row - first]

    def row_of(self, id: str) -> int:
        """The row of a document; -1 if there is none."""
        if (row := self.overlay.terms.row_of.get(id)) is not None:
            return len(self.base) + row
        row = self.base.ids.number(id)
        return -1 if row >= 0 and self.is_gone[row] else row

    def ids(self) -> Sequence[str]:
        """All ids, in order."""
        left = (self.base.ids[row] for row in np.flatnonzero(~self.is_gone).tolist())
        return sorted([*left, *self.overlay.documents])

    @cached_property
    def is_gone(self) -> NDArray[np.bool_]:
        """Whether a row of the base is gone."""
        mask = np.zeros(len(self.base), np.bool_)
        mask[self.overlay.gone] = True
        return mask

    def visible(self, exclude: NameFilter) -> VisibleRows:
        """The rows of documents that a filter leaves in."""
        if not exclude and not len(self.overlay.gone):
            return ALL_ROWS
        if (visible := self._visible.get(exclude)) is None:
            visible = self._visible[exclude] = self._seen(exclude)
        return visible

    def _seen(self, exclude: NameFilter) -> VisibleRows:
        added = [id not in exclude for id in self.overlay.terms.keys]
        mask = np.concatenate([self._base_mask(exclude) & ~self.is_gone, np.array(added, np.bool_)])
        rows = np.flatnonzero(mask).astype(np.int32)
        if len(rows) * FEW_ROWS > len(mask):
            return VisibleRows(mask)
        return VisibleRows(mask, rows)

    def _base_mask(self, exclude: NameFilter) -> NDArray[np.bool_]:
        if (mask := self.masks.get(exclude)) is None:
            mask = np.full(len(self.base), not exclude.inverted, np.bool_)
            mask[self.base.rows_of(exclude.names)] = exclude.inverted
            self.masks[exclude] = mask
        return mask
