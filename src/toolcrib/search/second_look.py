"""The second look: the first matches, put in order by all that one can hold against them.

    score(d) = fused(d) + gate · LOOK · z(look(d)) + PRODUCT · product(d) - UNASKED · destroys(d)

The arms find the right tool nearly always and often put it in the wrong place: one word outvotes
the rest. So the first matches are looked at again:

look       how well they answer every word of the query (`toolcrib.index`, late interaction), in
           standard deviations. Where even the best answers few of the words, it says little: the
           gate closes.
product    a product that the query names, for its tools and against those of others
destroys   a tool that deletes or cancels, where the query asks for nothing of the kind
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean

from toolcrib.index import Look
from toolcrib.model import Entry, Match, Ranking
from toolcrib.search.products import (
    NamedProduct,
    PoolProducts,
    named_products,
    names_absent,
    product_evidence,
)
from toolcrib.search.verbs import asks_for, is_destructive, verb_family

LOOKED_AT = 50
"""So many of the first matches are looked at again."""
LOOK, PRODUCT, UNASKED = 1.0, 0.7, 0.7
"""How much each counts, in standard deviations of a ranking. The top is flat, as with the arms."""
CLOSED, OPEN = 0.35, 0.55
"""The best look at which the gate is closed, and from which on it is open."""
TIED = 5
"""The lead of the best look is measured to this place."""


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What a second look at the first matches has seen.

    `looks` are by entry, empty without the bundled model; `named` are the products that the text
    names; `absent` says that one of them is nowhere in the pool.
    """

    looks: Mapping[str, Look] = field(default_factory=dict[str, Look])
    remarks: Mapping[str, float] = field(default_factory=dict[str, float])
    named: tuple[NamedProduct, ...] = ()
    absent: bool = False

    @property
    def best(self) -> float | None:
        """The best look of all; None without any."""
        return max((look.score for look in self.looks.values()), default=None)

    @property
    def lead(self) -> float:
        """By how much the best look leads the fifth."""
        scores = sorted((look.score for look in self.looks.values()), reverse=True)
        return scores[0] - scores[TIED - 1] if len(scores) >= TIED else 0.0

    def lifts(self) -> Mapping[str, float]:
        """What it adds to each score."""
        weight = LOOK * _gate(self.best)
        lifts = {id: weight * zscore for id, zscore in _zscores(self.looks).items()}
        every = {**lifts, **self.remarks}
        return {id: lifts.get(id, 0.0) + self.remarks.get(id, 0.0) for id in every}

    def reorder(self, fused: Ranking) -> Ranking:
        """The ranking in the order of both; what was not looked at follows as it was."""
        first, rest = fused[:LOOKED_AT], fused[LOOKED_AT:]
        if not (lifts := self.lifts()) or not first:
            return fused
        scored = [Match(id, score + lifts.get(id, 0.0)) for id, score in first]
        ordered = sorted(scored, key=lambda match: (-match.score, match.id))
        lowest = ordered[-1].score
        return [*ordered, *(Match(id, min(score, lowest)) for id, score in rest)]


def look_again(
    text: str, entries: Sequence[Entry], looks: Mapping[str, Look], known: PoolProducts | None
) -> SecondLook:
    """What is to be said of these entries, the first matches of a text.

    `known` is what the pool has of products; None if that is not asked.
    """
    named = named_products(text, known) if known else ()
    remarks = {entry.name: -UNASKED for entry in entries if _destroys_unasked(entry, text)}
    for entry in entries if named and known else ():
        lift = PRODUCT * product_evidence(entry, named, known)
        remarks[entry.name] = remarks.get(entry.name, 0.0) + lift
    return SecondLook(looks, remarks, named, bool(known) and names_absent(named, known))


def _destroys_unasked(entry: Entry, text: str) -> bool:
    return is_destructive(entry.bare) and not asks_for(verb_family(entry.bare), text)


def _gate(best: float | None) -> float:
    return 0.0 if best is None else min(1.0, max(0.0, (best - CLOSED) / (OPEN - CLOSED)))


def _zscores(looks: Mapping[str, Look]) -> Mapping[str, float]:
    scores = [look.score for look in looks.values()]
    mean = fmean(scores) if scores else 0.0
    deviation = sqrt(fmean((score - mean) ** 2 for score in scores)) if scores else 0.0
    return {id: (look.score - mean) / (deviation or 1.0) for id, look in looks.items()}
