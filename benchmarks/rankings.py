"""What each system ranks for each query of a set: the baselines, the arms alone, all of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Literal

from benchmarks.once import Once
from benchmarks.peer_search import DEEP, Baseline
from benchmarks.plain_bm25 import rrf
from toolcrib.evaluate.cases import EvalCase
from toolcrib.evaluate.evaluation import ranked_ids
from toolcrib.index import SomeArms
from toolcrib.search import Search

DEPTH = 50
"""How much of a ranking is scored: equivalents fall together, and ten have to be left of them."""
PLAIN, BM25, MINILM, BOTH = "plain FTS5", "BM25", "MiniLM", "RRF of both"
SEED, WORDS, OURS = "seed formula", "words alone", "Toolcrib"

Text = Literal["query", "instruction"]
Rankings = Mapping[str, Mapping[str, Sequence[str]]]
"""By system, the ranked ids of each query."""
Ranker = Callable[[EvalCase, str], Mapping[str, Sequence[str]]]
"""By system, the ranked ids of a case that is asked by this text."""


def rank(cases: Iterable[EvalCase], ranker: Ranker, text: Text = "query") -> Rankings:
    """The rankings of all that a ranker knows, by this text of each case."""
    ranked: dict[str, dict[str, Sequence[str]]] = {}
    for case in cases:
        for name, ids in ranker(case, attrgetter(text)(case)).items():
            ranked.setdefault(name, {})[case.id] = ids[:DEPTH]
    return ranked


def by_systems(search: Search) -> Ranker:
    """What Toolcrib and its parts rank. What they share is done once."""

    def ranker(case: EvalCase, text: str) -> Mapping[str, Sequence[str]]:
        ours = systems(replace(search, view=Once(search.view)))
        return {name: ranked_ids(each, case, text) for name, each in ours.items()}

    return ranker


def by_baselines(baselines: Mapping[str, Baseline]) -> Ranker:
    """What each baseline ranks, and the fusion of BM25 and MiniLM where both are there."""

    def ranker(_case: EvalCase, text: str) -> Mapping[str, Sequence[str]]:
        ranked = {name: each.search(text, DEEP) for name, each in baselines.items()}
        if MINILM in ranked:
            ranked[BOTH] = rrf([ranked[BM25], ranked[MINILM]])
        return ranked

    return ranker


def systems(search: Search) -> Mapping[str, Search]:
    """The search as it is, by the seed's formula, by words alone, and each of its arms alone.

    An arm alone knows no names and no verbs, and always answers.
    """
    rules = search.rules
    bare = replace(search, rules=replace(rules, abstain=False), bonuses=False)
    view, words = search.view, SomeArms(search.view, ("like", "bm25"))
    arms = {arm: replace(bare, view=SomeArms(view, (arm,))) for arm in view.arms}
    return arms | {
        WORDS: replace(search, view=words),
        SEED: replace(search, rules=replace(rules, fusion="rrf")),
        OURS: search,
    }
