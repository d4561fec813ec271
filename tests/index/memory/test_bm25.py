from random import Random

import pytest

from tests.catalogs import catalog, variant
from tests.hand_made import BM25_SHARES, THREE, WEIGHTS
from toolcrib.index import FieldWeights, bm25_arm
from toolcrib.index.memory import bm25
from toolcrib.model import NameFilter, Variant


@pytest.mark.parametrize(("terms", "scores"), BM25_SHARES)
def test_scores_are_those_computed_by_hand(terms: tuple[str, ...], scores: dict[str, float]):
    arm = bm25_arm(THREE, WEIGHTS)
    assert dict(arm.lookup(Variant("", terms=terms))) == pytest.approx(scores, rel=1e-6)


@pytest.mark.parametrize("limit", [1, 3, 30])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.05])
def test_leaving_common_terms_for_last_changes_nothing(
    limit: int, share: float, monkeypatch: pytest.MonkeyPatch
):
    """The first of a ranking are those of the whole one, whoever is let in."""
    monkeypatch.setattr(bm25, "LONG", 0)
    monkeypatch.setattr(bm25, "FEW", 1)
    documents, chance = catalog(600, seed=5), Random(5)
    arm = bm25_arm(documents, FieldWeights())
    seen = NameFilter.only(each.id for each in documents if chance.random() < share)
    for _ in range(60):
        asked = variant(" ".join(chance.choices(["read", "file", "issue", "send", "user"], k=4)))
        whole = arm.lookup(asked, exclude=seen)
        assert arm.lookup(asked, limit=limit, exclude=seen) == whole[:limit]
