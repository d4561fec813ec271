"""Other settings for one search, to be compared with those that are set: a closed list.

Each makes another `Search` of one that is there. Nothing is stored, and no other search changes.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from toolcrib.index import SomeArms
from toolcrib.search.pipeline import Search, no_look

AS_SET = "as_set"
MORE_HITS = 10


class Alternative(NamedTuple):
    """What people call it, and the search that it makes of another."""

    label: str
    of: Callable[[Search], Search]


def _with_rules(label: str, **rules: Any) -> Alternative:  # noqa: ANN401 - fields of the rules
    def changed(search: Search) -> Search:
        return replace(search, rules=replace(search.rules, **rules))

    return Alternative(label, changed)


def _as_it_is(search: Search) -> Search:
    return search


def _without_learning(search: Search) -> Search:
    return replace(search, boosts={})


def _without_vectors(search: Search) -> Search:
    words = SomeArms(search.view, ("like", "bm25"))
    return replace(search, view=words, look=no_look, calibrated_cosines=False)


def _with_more_hits(search: Search) -> Search:
    most = max(MORE_HITS, search.rules.most)
    return replace(search, rules=replace(search.rules, limit=MORE_HITS, most=most))


ALTERNATIVES: Mapping[str, Alternative] = {
    AS_SET: Alternative("as set", _as_it_is),
    "zscore": _with_rules("fused by z-scores", fusion="zscore"),
    "rrf": _with_rules("fused by ranks (rrf)", fusion="rrf"),
    "keywords": _with_rules("by fixed points (keywords)", fusion="keywords"),
    "no_vectors": Alternative("without vectors", _without_vectors),
    "no_second_look": _with_rules("without the second look", second_look="off"),
    "no_use": Alternative("without learning", _without_learning),
    "no_cut": _with_rules("without a cut", cut="none"),
    "top_band": _with_rules("cut below half of the best", cut="top_band"),
    "no_abstain": _with_rules("never left empty", abstain=False),
    "limit_10": Alternative(f"up to {MORE_HITS} hits", _with_more_hits),
}
"""Each by its name; the first is no other."""
