"""What lifts a tool in a ranking, as cells with bars: the arms, its name, the second look."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Self, TypeAlias

import htpy as h

from toolcrib.dashboard.bars import bar
from toolcrib.search import Candidate, Explanation

SECOND_LOOK = ("look", "product", "destroys")
LIFTS = ("like", "bm25", "vector", "bonus", "second look")
SMALL, LEAST = 0.05, 0.0005
"""A part below the first is shown with a digit more, as all parts of `rrf` are; below the second it
is nothing."""

Lifts: TypeAlias = Mapping[str, float]
"""What each of `LIFTS` adds to a score."""


class Scale(NamedTuple):
    """The least and the most that anything adds, for bars that compare."""

    lowest: float
    highest: float

    @classmethod
    def of(cls, every: Iterable[Lifts]) -> Self:
        """Of all these together; zero is in it."""
        parts = [0.0, *(part for each in every for part in each.values())]
        return cls(min(parts), max(parts))


def lifts(of: Candidate | Explanation) -> Lifts:
    """What lifts one, in five parts."""
    return summed(of.contributions)


def summed(contributions: Mapping[str, float]) -> Lifts:
    """Contributions in five parts."""
    arms = {arm: contributions.get(arm, 0.0) for arm in LIFTS[:3]}
    look = sum(contributions.get(part, 0.0) for part in SECOND_LOOK)
    bonus = sum(part for by, part in contributions.items() if by not in {*LIFTS, *SECOND_LOOK})
    return {**arms, "bonus": bonus, "second look": look}


def cells(
    parts: Lifts, scale: Scale, ranks: Mapping[str, int | None] | None = None
) -> list[h.Element]:
    """A cell for each part; an arm with the rank that it gives."""
    return [_cell(name, (ranks or {}).get(name), part, scale) for name, part in parts.items()]


def _cell(name: str, rank: int | None, part: float, scale: Scale) -> h.Element:
    kind = name.replace(" ", "-")
    if abs(part) < LEAST and rank is None:
        return h.td(".none", data_label=name)["–"]
    return h.td(data_label=name)[
        bar(part, *scale, f"bar-{kind}"),
        [h.span(".unseen")["rank "], h.b[rank], " "] if rank else None,
        _number(part) if abs(part) >= LEAST else None,
    ]


def _number(part: float) -> str:
    return f"{part:+.2f}" if abs(part) >= SMALL else f"{part:+.3f}"


def head(columns: Sequence[str]) -> h.Element:
    """The head of a table of tools."""
    return h.thead[h.tr[[h.th(scope="col")[each] for each in ("tool", *columns)]]]
