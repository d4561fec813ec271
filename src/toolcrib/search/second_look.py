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

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from toolcrib.model import Entry, Match, Ranking
from toolcrib.search.products import (
    NamedProduct,
    PoolProducts,
    names_absent,
    product_evidence,
)
from toolcrib.search.rankings import rank_by_score
from toolcrib.search.verbs import asks_for, is_destructive, verb_family
from toolcrib.search.zscore import zscores

LOOKED_AT = 50
"""So many of the first matches are looked at again."""
LOOK, PRODUCT, UNASKED = 1.0, 0.7, 0.7
"""How much each counts, in standard deviations of a ranking. The top is flat, as with the arms."""
CLOSED, OPEN = 0.4, 0.6
"""The best look at which the gate is closed, and from which on it is open."""
ROUNDING = 1e-9
TIED = 5
"""A lead is measured to this rank: the last hit of an answer, unless a limit is set."""


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What a second look at the first matches has seen.

    `looks` are by entry, empty without the bundled model. `by_product` is from 1 (of a product that
    the text names) to -1 (of another one), `unasked` are those that destroy without being asked.
    `absent` says that a product is named which is nowhere in the pool.
    """

    looks: Mapping[str, float] = field(default_factory=dict[str, float])
    by_product: Mapping[str, float] = field(default_factory=dict[str, float])
    unasked: frozenset[str] = frozenset()
    absent: bool = False

    @property
    def best(self) -> float | None:
        """The best look of all; None without any."""
        return max(self.looks.values(), default=None)

    @property
    def lead(self) -> float:
        """By how much the best look leads the fifth."""
        scores = sorted(self.looks.values(), reverse=True)
        return scores[0] - scores[TIED - 1] if len(scores) >= TIED else 0.0

    def contributions(self) -> Mapping[str, Mapping[str, float]]:
        """What it adds to the score of each, by what it goes by: look, product, destroys."""
        weight = LOOK * _gate(self.best)
        looks = {id: weight * zscore for id, zscore in zscores(self.looks).items()}
        products = {id: PRODUCT * worth for id, worth in self.by_product.items()}
        unasked = dict.fromkeys(self.unasked, -UNASKED)
        return {"look": looks, "product": products, "destroys": unasked}

    def reorder(self, first: Ranking, rest: Ranking = ()) -> Ranking:
        """The first matches in the order of both; what was not looked at follows as it was."""
        parts = [each for each in self.contributions().values() if each]
        if not parts or not first:
            return [*first, *rest] if rest else first
        ordered = rank_by_score(
            {id: score + sum([part.get(id, 0.0) for part in parts]) for id, score in first}
        )
        lowest = ordered[-1].score
        return [*ordered, *(Match(id, min(score, lowest)) for id, score in rest)]


def contenders(
    text: str,
    ranked: Iterator[tuple[Match, Entry]],
    named: Sequence[NamedProduct],
    shown: int | None,
) -> Sequence[tuple[Match, Entry]]:
    """The first matches, as far down as a second look without looks may bring one among `shown`.

    Ends as soon as so many are above the rest whatever is held against them. None: all matter.
    """
    first: list[tuple[Match, Entry]] = []
    least: list[float] = []
    by_product = PRODUCT if named else 0.0
    for match, entry in islice(ranked, LOOKED_AT):
        first.append((match, entry))
        if shown:
            against = UNASKED if _destroys_unasked(entry, text) else 0.0
            insort(least, match.score - against - by_product)
            if len(least) > shown and match.score + by_product < least[-shown] - ROUNDING:
                break
    return first


def look_again(
    text: str,
    entries: Sequence[Entry],
    looks: Mapping[str, float],
    known: PoolProducts | None = None,
    named: Sequence[NamedProduct] = (),
) -> SecondLook:
    """What is to be said of these entries, the first matches of a text.

    `known` is what the pool has of products, None if that is not asked; `named` are those that the
    text names.
    """
    unasked = frozenset([each.name for each in entries if _destroys_unasked(each, text)])
    if known is None or not named:
        return SecondLook(looks, {}, unasked)
    by_product = {entry.name: product_evidence(entry, named, known) for entry in entries}
    return SecondLook(looks, by_product, unasked, names_absent(named, known))


def _destroys_unasked(entry: Entry, text: str) -> bool:
    return is_destructive(entry.bare) and not asks_for(verb_family(entry.bare), text)


def _gate(best: float | None) -> float:
    return 0.0 if best is None else min(1.0, max(0.0, (best - CLOSED) / (OPEN - CLOSED)))
