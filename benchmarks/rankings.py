"""What each system ranks for each query of a set: the baselines, the arms alone, all of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Literal, Protocol

from benchmarks.once import Once
from benchmarks.plain_bm25 import rrf
from benchmarks.some_arms import SomeArms
from toolcrib.evaluate.cases import Suite
from toolcrib.evaluate.run import found
from toolcrib.search.pipeline import Search

DEPTH = 50
"""How much of a ranking is scored: equivalents fall together, and ten have to be left of them."""
DEEP = 100
"""How much of the rankings of two baselines is fused."""

PLAIN, BM25, MINILM, BOTH = "plain FTS5", "BM25", "MiniLM", "RRF of both"
SEED, WORDS, OURS = "seed formula", "words alone", "Toolcrib"

Text = Literal["query", "instruction"]
Rankings = Mapping[str, Mapping[str, Sequence[str]]]
"""By system, the ranked ids of each query."""


class Baseline(Protocol):
    """Something that ranks ids."""

    def search(self, text: str, limit: int) -> Sequence[str]: ...


def rank(
    suite: Suite, search: Search, baselines: Mapping[str, Baseline], text: Text = "query"
) -> Rankings:
    """The rankings of all systems, by this text of each case. What they share is done once."""
    ranked: dict[str, dict[str, Sequence[str]]] = {}
    for case in suite.cases.values():
        asked: str = attrgetter(text)(case)
        ours = systems(replace(search, view=Once(search.view)))
        rankings = {name: found(each, case, asked) for name, each in ours.items()}
        rankings |= _by_baselines(baselines, asked)
        for name, ids in rankings.items():
            ranked.setdefault(name, {})[case.id] = ids[:DEPTH]
    return ranked


def systems(search: Search) -> Mapping[str, Search]:
    """The search as it is, by the seed's formula, by words alone, and each of its arms alone.

    An arm alone knows no names and no verbs, and always answers.
    """
    rules = search.rules
    bare = replace(rules, exact_name_bonus=0.0, intent_boost=0.0, abstain=False)
    view, words = search.view, SomeArms(search.view, ("like", "bm25"))
    arms = {arm: replace(search, view=SomeArms(view, (arm,)), rules=bare) for arm in view.arms}
    return arms | {
        WORDS: replace(search, view=words),
        SEED: replace(search, rules=replace(rules, fusion="rrf")),
        OURS: search,
    }


def _by_baselines(baselines: Mapping[str, Baseline], text: str) -> dict[str, Sequence[str]]:
    ranked = {name: each.search(text, DEEP) for name, each in baselines.items()}
    if MINILM in ranked:
        ranked[BOTH] = rrf([ranked[BM25], ranked[MINILM]])
    return ranked
