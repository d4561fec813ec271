"""How sure an answer is: the chance that one of its hits is what was asked for.

    by the second look   chance = σ(look · l + cosine · c + lead · d + base)
    by meaning           chance = σ(slope · cosine + base)
    by words             chance = σ(share · s + lead · l + ln(terms) · t + base)

It is the chance that one of the first five is right. The evidence is how well the best tool answers
every word (the second look), by how much it leads the fifth, and the cosine of the nearest of all
tools. Without the second look there is the cosine alone. Without vectors it has three parts: what
share of the query the best tool has in words, by how much it leads the fifth (five that are tied
say little), and how many terms the query has (a share of many says more). A tool that searches the
web fits any question a little: with one among the first hits, search never abstains. A query that
names a product which is nowhere in the pool has most likely no answer.

The constants were fitted to queries that have an answer and to queries that have none, English and
Chinese, by `python -m benchmarks.confidence`; whether what is said comes true is drawn by
`python -m benchmarks.reliability`.
"""

from collections.abc import Iterable
from math import exp, log
from typing import NamedTuple

from toolcrib.model import Confidence, Ranking, matches
from toolcrib.search.fusion import VariantTrace
from toolcrib.search.keywords import IN_NAME
from toolcrib.search.second_look import TIED, SecondLook

HIGH, MEDIUM, LOW = 0.9, 0.6, 0.15
"""From which chance on an answer has that confidence. Below the last it abstains.

At 0.15 one in two hundred right answers to ToolLens is left empty, whose questions only hint at
what they want, and hardly any to others.
"""
BROAD = "web search"
BROAD_COSINE = 0.48
"""From this cosine with `BROAD` on, a tool counts as one that searches the web."""

DOUBTFUL = 0.4
"""Below it a question about the world is rather one for a web search, if there is any."""
ABSENT = 0.1
"""The chance where a product is named that nothing in the pool is of."""

NOTHING: Ranking = ()


class Fit(NamedTuple):
    """The constants of the formula by meaning."""

    slope: float
    base: float


class LookFit(NamedTuple):
    """The constants of the formula by the second look."""

    look: float
    cosine: float
    lead: float
    base: float


class WordFit(NamedTuple):
    """The constants of the formula by words."""

    share: float
    lead: float
    terms: float
    base: float


BY_LOOK = LookFit(0.89, 10.45, 11.69, -4.69)
BY_MEANING = Fit(12.40, -4.38)
BY_WORDS = WordFit(2.24, 6.14, 1.08, -2.82)
"""Without vectors, or with those of another model: its cosines are on another scale.

Fitted to published sets. A fit to what people type as well says high more often, and is right less
often where it does.
"""


class Evidence(NamedTuple):
    """What the chance is made from.

    The best share of the query, the best cosine if there is one, by how much of the query the best
    leads the fifth, and how many terms were looked up; the best second look, and its lead.
    """

    share: float
    cosine: float | None
    lead: float = 0.0
    terms: int = 1
    look: float | None = None
    look_lead: float = 0.0


def evidence(steps: Iterable[VariantTrace], seen: SecondLook | None = None) -> Evidence:
    """The best of each arm, over all variants, and what the second look has seen."""
    every = list(steps)
    by_words = max(map(_by_words, every), key=_best, default=NOTHING)
    fifth = by_words[TIED - 1].score if len(by_words) >= TIED else 0.0
    cosines = [_best(ranking) for step in every if (ranking := step.arms.get("vector"))]
    return Evidence(
        _best(by_words),
        max(cosines, default=None),
        _best(by_words) - fifth,
        max((len(step.variant.terms) for step in every), default=1) or 1,
        seen.best if seen else None,
        seen.lead if seen else 0.0,
    )


def chance(found: Evidence, *, calibrated: bool) -> float:
    """The chance that an answer fits that has this evidence.

    `calibrated`: whether the cosines are of the model that the formula was fitted to. By words
    alone the chance is never below `LOW`: a tool may fit that says it in other words.
    """
    if calibrated and found.cosine is not None and found.look is not None:
        by = BY_LOOK
        logit = by.look * found.look + by.cosine * found.cosine + by.lead * found.look_lead
        return _sigmoid(logit + by.base)
    if calibrated and found.cosine is not None:
        return _sigmoid(BY_MEANING.slope * found.cosine + BY_MEANING.base)
    fit = BY_WORDS
    logit = fit.share * found.share + fit.lead * found.lead + fit.terms * log(found.terms)
    return max(LOW, _sigmoid(logit + fit.base))


def confidence_level(chance: float) -> Confidence:
    """The word for a chance."""
    if chance >= HIGH:
        return "high"
    if chance >= MEDIUM:
        return "medium"
    return "low" if chance >= LOW else "none"


def _by_words(step: VariantTrace) -> Ranking:
    """The share of the words that each has; of fixed points that of all words in the name."""
    if step.rules.fusion != "keywords":
        return step.arms.get("bm25", NOTHING)
    most = IN_NAME * len(step.variant.words)
    return matches([(id, score / most) for id, score in step.fused])


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


def _best(ranking: Ranking) -> float:
    return ranking[0].score if ranking else 0.0
