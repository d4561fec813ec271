"""The map of the tool space: what means alike lies close together. Numpy alone, no chance in it.

    vectors ──> the nearest of each ──> two main axes ──> rounds of pull and push ──> places

A round pulls each tool towards its nearest and pushes it away from some others. What is far apart
on the map need not be far apart in meaning; whoever needs the truth looks at the nearest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed import one_blas_thread

NEAREST = 10
MOST_MAPPED = 20_000
ROUNDS = 120
PUSHED = 6
"""From so many others a tool is pushed away in a round; which ones, a fixed seed says."""
PULL, PUSH = 0.3, 0.06
CHUNK = 1_024
SEED = 7
EDGE = 0.01
"""The share of tools at each end of an axis that may lie on the edge of the map."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class ToolMap:
    """Where each tool lies, from 0 to 1 on both axes, and its nearest by meaning, nearest first.

    `nearest` are rows of this map, `cosines` say how near. Fewer tools than `NEAREST` have fewer.
    """

    names: tuple[str, ...]
    places: NDArray[np.float64]
    nearest: NDArray[np.intp]
    cosines: NDArray[np.float32]

    def neighbours(self, name: str) -> Sequence[tuple[str, float]]:
        """The nearest of one tool with their cosines; none if it is not on the map."""
        if name not in self.names:
            return []
        row = self.names.index(name)
        pairs = zip(self.nearest[row], self.cosines[row], strict=True)
        return [(self.names[int(each)], float(cosine)) for each, cosine in pairs]


def map_tools(names: Sequence[str], vectors: Vectors) -> ToolMap:
    """The map of tools by their vectors, a row each, of length 1. The same for the same rows."""
    names, vectors = tuple(names[:MOST_MAPPED]), vectors[:MOST_MAPPED]
    with one_blas_thread():
        nearest, cosines = nearest_rows(vectors, min(NEAREST, max(len(names) - 1, 0)))
        places = _spread(_main_axes(vectors), nearest)
    return ToolMap(names, _within_bounds(places), nearest, cosines)


def nearest_rows(vectors: Vectors, count: int) -> tuple[NDArray[np.intp], Vectors]:
    """For each row the `count` others with the largest cosine, largest first, and those cosines."""
    rows, nearest, cosines = len(vectors), list[NDArray[np.intp]](), list[Vectors]()
    for start in range(0, rows, CHUNK):
        products = vectors[start : start + CHUNK] @ vectors.T
        own = np.arange(len(products))
        products[own, start + own] = -np.inf
        some = np.argpartition(-products, min(count, rows - 1), axis=1)[:, :count]
        values = np.take_along_axis(products, some, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        nearest.append(np.take_along_axis(some, order, axis=1))
        cosines.append(np.take_along_axis(values, order, axis=1))
    if not nearest:
        return np.zeros((0, 0), np.intp), np.zeros((0, 0), np.float32)
    return np.concatenate(nearest), np.concatenate(cosines)


def _main_axes(vectors: Vectors) -> NDArray[np.float64]:
    """Each row on the two axes along which the rows differ most, about one unit wide."""
    if len(vectors) < 2:  # noqa: PLR2004 - one point has no axis
        return np.zeros((len(vectors), 2))
    centred = (vectors - vectors.mean(axis=0)).astype(np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    best = axes[:, -2:]
    best = best * np.sign(best[np.abs(best).argmax(axis=0), [0, 1]])  # an axis has no direction
    places = centred @ best
    return places / (places.std(axis=0) + 1e-9)


def _spread(places: NDArray[np.float64], nearest: NDArray[np.intp]) -> NDArray[np.float64]:
    """The places after all rounds: those near in meaning together, the others apart."""
    chance = np.random.default_rng(SEED)
    if len(places) <= PUSHED or not nearest.size:
        return places
    for step in np.linspace(1, 0, ROUNDS, endpoint=False):
        pulled = places[nearest].mean(axis=1) - places
        others = chance.integers(0, len(places), (len(places), PUSHED))
        away = places[:, None] - places[others]
        distance = (away**2).sum(axis=2, keepdims=True)
        pushed = (away / (distance + 0.05)).mean(axis=1)
        places = places + step * (PULL * pulled + PUSH * PUSHED * pushed)
    return places


def _within_bounds(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """The places from 0 to 1, both axes to one scale each; the few far out lie on the edge."""
    if not len(places):
        return places
    low, high = np.quantile(places, [EDGE, 1 - EDGE], axis=0)
    return np.clip((places - low) / np.maximum(high - low, 1e-9), 0.0, 1.0)
