import pytest

from tests.hand_made import BM25_SHARES, THREE, WEIGHTS
from toolcrib.index.memory.bm25 import Bm25, row
from toolcrib.index.memory.inverted_index import Segment
from toolcrib.model import Variant


@pytest.mark.parametrize(("terms", "scores"), BM25_SHARES)
def test_scores_are_those_computed_by_hand(terms: tuple[str, ...], scores: dict[str, float]):
    arm = Bm25(Segment.of([row(document, WEIGHTS) for document in THREE]))
    assert dict(arm.lookup(Variant("", terms=terms))) == pytest.approx(scores, rel=1e-6)
