"""How good a ranking is, given what is relevant. All measures are between 0 and 1."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean

from toolcrib.evaluate.cases import EvalCase

NDCG_DEPTH = 10


@dataclass(frozen=True, slots=True)
class EvalScores:
    """The means over the answerable queries, and over the others the share left empty.

    `hit_1` is the share whose first hit is relevant, `wrongly_empty` the share of the answerable
    that got no hits at all. None stands where there was no query of that sort.
    """

    answerable: int
    recall_1: float | None
    recall_5: float | None
    recall_10: float | None
    ndcg_10: float | None
    mrr: float | None
    unanswerable: int
    left_empty: float | None
    wrongly_empty: float | None = None
    hit_1: float | None = None


def score(results: Iterable[tuple[EvalCase, Sequence[str]]]) -> EvalScores:
    """The measures of these rankings."""
    every = list(results)
    answerable = [(case, counted(case, ranked)) for case, ranked in every if case.relevant]
    rest = [ranked for case, ranked in every if not case.relevant]
    return EvalScores(
        answerable=len(answerable),
        recall_1=_mean(recall(case, ranked, 1) for case, ranked in answerable),
        recall_5=_mean(recall(case, ranked, 5) for case, ranked in answerable),
        recall_10=_mean(recall(case, ranked, 10) for case, ranked in answerable),
        ndcg_10=_mean(ndcg(case, ranked) for case, ranked in answerable),
        mrr=_mean(reciprocal_rank(case, ranked) for case, ranked in answerable),
        unanswerable=len(rest),
        left_empty=_mean(float(not ranked) for ranked in rest),
        wrongly_empty=_mean(float(not ranked) for _, ranked in answerable),
        hit_1=_mean(float(reciprocal_rank(case, ranked[:1])) for case, ranked in answerable),
    )


def counted(case: EvalCase, ranked: Sequence[str]) -> Sequence[str]:
    """The ranking with equivalents taken for what they are equivalent to, repeats dropped."""
    return list(dict.fromkeys(case.equiv.get(id, id) for id in ranked))


def recall(case: EvalCase, ranked: Sequence[str], depth: int) -> float:
    """The share of the relevant within the first `depth`; all of it if any is enough."""
    found = set(case.relevant).intersection(ranked[:depth])
    return float(bool(found)) if case.relevance == "any" else len(found) / len(set(case.relevant))


def reciprocal_rank(case: EvalCase, ranked: Sequence[str]) -> float:
    """One over the rank of the first that is relevant; 0 if none is."""
    return next((1 / rank for rank, id in enumerate(ranked, 1) if id in case.relevant), 0.0)


def need_ranks(case: EvalCase, ranked: Sequence[str]) -> Mapping[str, int | None]:
    """The rank at which each relevant tool, or an equivalent of it, is found; None: nowhere."""
    places = {id: rank for rank, id in enumerate(counted(case, ranked), 1)}
    return {id: places.get(id) for id in dict.fromkeys(case.relevant)}


def ndcg(case: EvalCase, ranked: Sequence[str]) -> float:
    """nDCG@10 = Σ gain/log2(rank + 1) over the first ten, by that of the best order.

    The gain is the grade, or 1 where there is none; where any is enough, one perfect hit is best.
    Where nothing is to be gained it is 0.
    """
    gains = sorted((case.grades.get(id, 1) for id in set(case.relevant)), reverse=True)
    best = gains[:1] if case.relevance == "any" else gains[:NDCG_DEPTH]
    got = [case.grades.get(id, 1) if id in case.relevant else 0 for id in ranked[:NDCG_DEPTH]]
    return min(_discounted(got) / _discounted(best), 1.0) if any(best) else 0.0


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _mean(values: Iterable[float]) -> float | None:
    every = list(values)
    return fmean(every) if every else None
