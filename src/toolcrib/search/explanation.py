"""Why a capability was found, or was not: every step of a search, as it went for one of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from typing import Any

from toolcrib.access import FilterVerdict
from toolcrib.index import Arm
from toolcrib.model import Confidence, Entry, Match, Query, Ranking
from toolcrib.search.answer import answer_query, limit_of
from toolcrib.search.confidence import confidence_level, evidence
from toolcrib.search.fusion import Contributions, VariantTrace, contributions_of
from toolcrib.search.keywords import keyword_points
from toolcrib.search.pipeline import Search, SearchTrace
from toolcrib.search.query_syntax import FreeQuery, parse_query

NO_MATCH = "no arm has it among its first, and the query does not name it"
NO_WORD = "no word of the query is in its name or description"


@dataclass(frozen=True, slots=True)
class Wording:
    """How one variant saw it. Ranks count from 1; None: not among the matches.

    `ranks` are those of the arms, each down to its end; the fusion knows the first of them only.
    `scores` are what the arms say of it: likeness, share of the words, cosine.
    """

    text: str
    origin: str
    weight: float
    ranks: Mapping[Arm, int | None]
    scores: Mapping[Arm, float]
    bonus: float
    rank: int | None
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a search made of one capability.

    `hidden` is the filter that keeps it from this caller, or "". `rank` and `score` are those in
    the answer, or of what the cut took, in the fused ranking. `cut_at` is how many the cut left,
    `limit` how many an answer holds, `best` the winner with its score. `learned` is the share by
    which earlier use raised the score.
    `confidence` and `chance` are those of the whole answer; `parts` are the several things that
    the query asks for, each with the rank that it has there. `summary` says it in a sentence.
    `contributions` is what each arm, the name and the second look add to its score,
    `best_contributions` the same of the winner; both are empty by `rrf`. By `keywords` they are the
    points for "name", "description" and "whole name". `share` and `cosine` are those of the best
    tool of each arm, `look` is the best second look: what the chance comes from.
    `absent`: the query names a product that is nowhere in the pool. `corrections` are the misspelt
    words of the query, as in "emial → email".
    """

    query: str
    name: str
    state: str
    hidden: FilterVerdict
    wordings: tuple[Wording, ...]
    rank: int | None
    score: float
    cut_at: int
    limit: int
    best: tuple[str, float] | None
    summary: str
    learned: float = 0.0
    confidence: Confidence = "high"
    chance: float = 1.0
    parts: tuple[tuple[str, int | None], ...] = ()
    contributions: Contributions = field(default_factory=dict[str, float])
    best_contributions: Contributions = field(default_factory=dict[str, float])
    share: float = 0.0
    cosine: float | None = None
    look: float | None = None
    absent: bool = False
    corrections: tuple[str, ...] = ()


def explanation_of_json(given: Mapping[str, Any]) -> Explanation:
    """An explanation, out of what `asdict` made of it, as JSON."""
    fields: dict[str, Any] = {
        **given,
        "wordings": tuple(Wording(**each) for each in given["wordings"]),
        "best": tuple(given["best"]) if given["best"] else None,
        "parts": tuple(tuple(each) for each in given["parts"]),
        "corrections": tuple(given["corrections"]),
    }
    return Explanation(**fields)


def explain(query: Query, entry: Entry, verdict: FilterVerdict, search: Search) -> Explanation:
    """What a search made of one entry: its ranks there, and in each arm down to the end.

    A hidden entry is explained as if it were visible, together with the filter that hides it. A
    query that is no free text has no wordings: its answer is all there is.
    """
    name = entry.name
    search = search.without_hiding(name)
    trace, deep = (trace_of(query, search, depth=depth) for depth in (search.depth, None))
    limit = limit_in(trace, query, search)
    rank, score = _answer_place(trace, name)
    best = trace.ranking[0] if trace.ranking else None
    found = evidence((step for each in (trace, *trace.parts) for step in each.steps), trace.seen)
    added = partial(explain_score, trace=trace, search=search)
    return Explanation(
        query=query.text,
        name=name,
        state=entry.state,
        hidden=verdict,
        wordings=tuple(map(_wording, trace.steps, deep.steps, repeat(name))),
        rank=rank,
        score=score,
        cut_at=len(trace.after_cut),
        limit=limit,
        best=(best.id, best.score) if best else None,
        summary=f"hidden from this caller: {verdict}" if verdict else _summary(trace, name, limit),
        learned=trace.boosts.get(name, 0.0) if rank else 0.0,
        confidence=confidence_level(trace.chance),
        chance=trace.chance,
        parts=tuple((part.text, place_of(part.ranking, name)[0]) for part in trace.parts),
        contributions=added(name),
        best_contributions=added(best.id) if best else {},
        share=found.share,
        cosine=found.cosine if search.calibrated_cosines else None,
        look=found.look,
        absent=trace.seen.absent,
        corrections=tuple(map(str, trace.corrections)),
    )


def explain_score(id: str, trace: SearchTrace, search: Search) -> Contributions:
    """What each arm, the name and the second look add to the score of one candidate."""
    if search.rules.fusion == "keywords" and trace.steps:
        return keyword_points(trace.text, search.entries[id])
    arms = contributions_of(id, trace.steps, search.rules, search.depth)
    if not arms:
        return arms
    seen = trace.seen.contributions().items()
    return {**arms, **{by: each[id] for by, each in seen if id in each}}


def trace_of(query: Query, search: Search, *, depth: int | None) -> SearchTrace:
    """The trace of a query; one that is no free text has no steps, and its answer is the ranking.

    `depth` is how far down each arm looks; None: to the end.
    """
    form = parse_query(query.text)
    if isinstance(form, FreeQuery):
        return search.trace(form.text, depth=depth)
    hits = [Match(hit.name, hit.score) for hit in answer_query(query, search)]
    return SearchTrace((), hits, hits)


def limit_in(trace: SearchTrace, query: Query, search: Search) -> int:
    """How many hits the answer to a query holds."""
    return limit_of(query, search) if trace.steps else search.rules.most


def _wording(step: VariantTrace, deep: VariantTrace, id: str) -> Wording:
    rank, score = place_of(step.fused, id)
    return Wording(
        text=step.variant.text,
        origin=step.variant.origin,
        weight=step.variant.weight,
        ranks={arm: place_of(ranking, id)[0] for arm, ranking in deep.arms.items()},
        scores={arm: place_of(ranking, id)[1] for arm, ranking in deep.arms.items()},
        bonus=step.bonus.get(id, 0.0),
        rank=rank,
        score=score,
    )


def place_of(ranking: Ranking, id: str) -> tuple[int | None, float]:
    """The rank and the score of one in a ranking; ranks count from 1."""
    places = ((place, match.score) for place, match in enumerate(ranking, 1) if match.id == id)
    return next(places, (None, 0.0))


def _answer_place(trace: SearchTrace, id: str) -> tuple[int | None, float]:
    """The place that one sees; of what was cut, the place it would have had.

    The parts of a task are cut one by one, so that the two may differ.
    """
    place, score = place_of(trace.after_cut, id)
    return (place, score) if place else place_of(trace.ranking, id)


def _summary(trace: SearchTrace, id: str, limit: int) -> str:
    rank, _ = _answer_place(trace, id)
    place, _ = place_of(trace.after_cut, id)
    if rank is None and not trace.steps:
        return "not returned: the query asks for tools by name or pattern, and this is none of them"
    if rank is None:
        by_points = trace.steps[0].rules.fusion == "keywords"
        return f"not found: {NO_WORD if by_points else NO_MATCH}"
    if not trace.after_cut:
        return f"found at rank {rank}, but nothing fits well enough: chance {trace.chance:.2f}"
    if place is None:
        return f"found at rank {rank}, below the cut after {len(trace.after_cut)}"
    if place > limit:
        return f"found at rank {rank}, beyond the limit of {limit}"
    return f"returned at rank {rank}"
