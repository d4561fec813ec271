"""How a whole ranking came about: every candidate with what lifted it, the cut and the limit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from toolcrib.index import Arm
from toolcrib.model import Confidence, Query, Ranking
from toolcrib.search.confidence import confidence_level, evidence
from toolcrib.search.explanation import (
    Explanation,
    explain_score,
    explanation_of_json,
    limit_in,
    place_of,
    trace_of,
)
from toolcrib.search.fusion import Contributions, reciprocal_ranks_of
from toolcrib.search.pipeline import Search, SearchTrace

MOST_CANDIDATES = 12
"""So many of the first are told of: twice what an answer has, and more, unless a limit is set."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One place in a ranking, and what put it there.

    `ranks` are the best that each arm gives it by any variant, of the first matches only; None: it
    is not among them. `contributions` are what each arm adds to the score, in standard deviations:
    the arms, "name", and of the second look "look", "product" and "destroys". By `rrf` they are
    weighted reciprocal ranks, by `keywords` points. `learned` is the share by which use has raised
    the score. `part` is the part of the task for which it stands here; "" for the whole. `owner` is
    whose it is.
    """

    name: str
    owner: str
    score: float
    ranks: Mapping[str, int | None]
    contributions: Contributions
    learned: float = 0.0
    part: str = ""


class SearchedVariant(NamedTuple):
    """A wording that was looked up, where it comes from, and how much it counts."""

    text: str
    origin: str
    weight: float


class SearchedPart(NamedTuple):
    """One of several things that a query asks for, with the chance that a hit fits it."""

    text: str
    chance: float


@dataclass(frozen=True, slots=True)
class RankingExplanation:
    """What a search made of a query.

    `candidates` are the first of the ranking: those that the cut left, then the others. `cut_at` is
    how many the cut left, `limit` how many an answer holds, `found` how many were ranked at all. A
    query that is no free text has candidates without ranks and contributions, and no variants.
    The rest is as in `Explanation`. `tools` are those that were asked about by name, and `unknown`
    the names among these that are none, each with what is said of it.
    """

    query: str
    candidates: tuple[Candidate, ...]
    found: int
    cut_at: int
    limit: int
    fusion: str
    confidence: Confidence
    chance: float
    variants: tuple[SearchedVariant, ...] = ()
    parts: tuple[SearchedPart, ...] = ()
    corrections: tuple[str, ...] = ()
    share: float = 0.0
    cosine: float | None = None
    look: float | None = None
    absent: bool = False
    tools: tuple[Explanation, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of_json(cls, given: Mapping[str, Any]) -> Self:
        """Out of what `asdict` made of one, as JSON."""
        fields: dict[str, Any] = {
            **given,
            "candidates": tuple(Candidate(**each) for each in given["candidates"]),
            "variants": tuple(SearchedVariant(*each) for each in given["variants"]),
            "parts": tuple(SearchedPart(*each) for each in given["parts"]),
            "corrections": tuple(given["corrections"]),
            "tools": tuple(map(explanation_of_json, given["tools"])),
        }
        return cls(**fields)

    def about(self, tools: Iterable[Explanation], unknown: Mapping[str, str]) -> Self:
        """The same, with what became of some tools."""
        return replace(self, tools=tuple(tools), unknown=unknown)


def explain_ranking(query: Query, search: Search) -> RankingExplanation:
    """How a search ranks what it finds for a query. Its answer is the first, up to the limit."""
    trace = trace_of(query, search, depth=search.depth)
    found = evidence((step for each in _every(trace) for step in each.steps), trace.seen)
    ranking = _as_shown(trace)
    return RankingExplanation(
        query=query.text,
        candidates=tuple(_candidate(id, trace, search) for id in ranking[:MOST_CANDIDATES]),
        found=len(ranking),
        cut_at=len(trace.after_cut),
        limit=limit_in(trace, query, search),
        fusion=search.rules.fusion,
        confidence=confidence_level(trace.chance) if ranking else "none",
        chance=trace.chance if ranking else 0.0,
        variants=tuple(
            SearchedVariant(step.variant.text, step.variant.origin, step.variant.weight)
            for step in trace.steps
        ),
        parts=tuple(SearchedPart(part.text, part.chance) for part in trace.parts),
        corrections=tuple(map(str, trace.corrections)),
        share=found.share,
        cosine=found.cosine if search.calibrated_cosines else None,
        look=found.look,
        absent=trace.seen.absent,
    )


def _every(trace: SearchTrace) -> tuple[SearchTrace, ...]:
    return (trace, *trace.parts)


def _as_shown(trace: SearchTrace) -> list[str]:
    """What the cut left, in its order, then the rest of the ranking."""
    return list(dict.fromkeys(match.id for match in (*trace.after_cut, *trace.ranking)))


def _candidate(id: str, trace: SearchTrace, search: Search) -> Candidate:
    own = _standing(id, trace)
    by_ranks = search.rules.fusion == "rrf"
    scores = (place_of(ranking, id) for ranking in (trace.after_cut, trace.ranking))
    return Candidate(
        name=id,
        owner=search.entries[id].owner_label,
        score=next((score for rank, score in scores if rank), 0.0),
        ranks=_best_ranks(id, own),
        contributions=reciprocal_ranks_of(id, own.steps)
        if by_ranks
        else explain_score(id, own, search),
        learned=own.boosts.get(id, 0.0),
        part="" if own is trace else own.text,
    )


def _standing(id: str, trace: SearchTrace) -> SearchTrace:
    """The whole, or the part of a task that gives it the best score: by that it stands."""
    best = max(trace.parts, key=lambda part: place_of(part.ranking, id)[1], default=trace)
    if best is trace or not trace.parts:
        return trace
    score = place_of(best.ranking, id)[1]
    whole = place_of(trace.ranking, id)[1]
    return best if score and score >= whole else trace


def _best_ranks(id: str, trace: SearchTrace) -> Mapping[str, int | None]:
    """The best rank that each arm gives it by any variant."""
    arms: dict[Arm, None] = dict.fromkeys(arm for step in trace.steps for arm in step.arms)
    return {arm: _best_rank(id, (step.arms.get(arm, ()) for step in trace.steps)) for arm in arms}


def _best_rank(id: str, rankings: Iterable[Ranking]) -> int | None:
    ranks = (place_of(ranking, id)[0] for ranking in rankings)
    return min((rank for rank in ranks if rank), default=None)
