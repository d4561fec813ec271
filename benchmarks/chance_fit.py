"""A logistic fit of chances to what was right, and what it says of queries that it never saw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from toolcrib.search.confidence import LOW

EVERYDAY = "everyday"
LOWER_BOUNDS = ("ultratool_en", "ultratool_zh", "ultratool_zh2en")
"""Sets whose labels leave right tools out: nothing is fitted to them."""
EVERYDAY_COUNTS = 4.0
UNANSWERABLE_COUNT = 0.2
FOLDS = 5
STEPS = 40

Numbers: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Seen:
    """What search saw of the queries of one set, by one kind of evidence.

    Of each thing that is asked for, `rows` has the evidence, `bounds` the least and the most that
    the rules leave of its chance, and `query` the place of its query: a task has several. Of each
    query, `fits` says whether it has an answer, `right` whether one of the first is one, and `few`
    whether it was searched among its candidates for the fit alone.
    """

    name: str
    rows: Numbers
    bounds: Numbers
    query: NDArray[np.int_]
    fits: Flags
    right: Flags
    few: Flags

    def weights(self) -> Numbers:
        """How much each query counts: all of them together 1, or what everyday counts."""
        vain = UNANSWERABLE_COUNT * (not self.fits.all())
        few = (1 - vain) / 2 * bool(self.few.any())
        weights = np.zeros(len(self.fits))
        sorts = (~self.fits, vain), (self.fits & ~self.few, 1 - vain - few), (self.few, few)
        for some, counts in sorts:
            weights[some] = counts / max(some.sum(), 1)
        return weights * (EVERYDAY_COUNTS if self.name == EVERYDAY else 1.0)

    def chances(self, constants: Numbers) -> Numbers:
        """The chance of each query, as search has it.

        Of a task it is the mean of the whole, which comes first, and of its parts, of those that
        are answered.
        """
        likely = _sigmoid(self.rows @ constants[:-1] + constants[-1])
        likely = np.clip(likely, self.bounds[:, 0], self.bounds[:, 1])
        answered, size = likely >= LOW, len(self.fits)
        count = np.bincount(self.query, answered, size)
        total = np.bincount(self.query, likely * answered, size)
        whole = likely[np.unique(self.query, return_index=True)[1]]
        return np.where(count > 0, total / np.maximum(count, 1), whole)

    def part(self, chosen: Flags) -> "Seen":
        """The same with these queries alone."""
        places = np.cumsum(chosen) - 1
        of = chosen[self.query]
        rows, bounds, query = self.rows[of], self.bounds[of], places[self.query[of]]
        flags = self.fits[chosen], self.right[chosen], self.few[chosen]
        return Seen(self.name, rows, bounds, query, *flags)


BySet = Sequence[Seen]
Chances = Sequence[Numbers]
Judged = tuple[Seen, Numbers]
"""Queries of a set, and their chances by a fit that has not seen them."""


def fitted(every: BySet) -> Numbers:
    """The constants: a slope for each number of the evidence, then the base."""
    rows: list[Numbers] = []
    right: list[Flags] = []
    weights: list[Numbers] = []
    for each in (some for some in every if some.name not in LOWER_BOUNDS):
        alone = np.bincount(each.query, minlength=len(each.fits))[each.query] == 1
        open_ = alone & (each.bounds[:, 1] > each.bounds[:, 0])
        rows.append(each.rows[open_])
        right.append(each.right[each.query[open_]])
        weights.append(each.weights()[each.query[open_]])
    return _regression(np.concatenate(rows), np.concatenate(right), np.concatenate(weights))


def _regression(rows: Numbers, right: Flags, weights: Numbers) -> Numbers:
    """Logistic, by Newton's method; a little regularised, so that it has an end."""
    inputs = np.column_stack([rows, np.ones(len(rows))])
    found = np.zeros(inputs.shape[1])
    for _ in range(STEPS):
        chances = _sigmoid(inputs @ found)
        slope = inputs.T @ (weights * (right - chances)) - 1e-5 * found
        bend = (inputs * (weights * chances * (1 - chances))[:, None]).T @ inputs
        found += np.linalg.solve(bend + 1e-5 * np.eye(len(found)), slope)
    return found


def judged(every: BySet) -> Chances:
    """The chances of each set by a fit that has not seen the query."""
    return [_judged(each, [other for other in every if other is not each]) for each in every]


def _judged(one: Seen, others: BySet) -> Numbers:
    """The chances of a set by fits to others, and to the rest of it if it is everyday."""
    if one.name != EVERYDAY:
        return one.chances(fitted(others))
    fold = np.arange(len(one.fits)) % FOLDS
    chances = np.zeros(len(one.fits))
    for number in range(FOLDS):
        kept = fold == number
        chances[kept] = one.part(kept).chances(fitted([*others, one.part(~kept)]))
    return chances


def _sigmoid(x: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-x))
