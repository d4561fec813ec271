import pytest

from tests.hand_made import FILE_IN_A, MAP_IN_B, READ_IN_A, THREE, WEIGHTS
from toolcrib.index.memory.bm25 import Bm25, row
from toolcrib.index.memory.segment import Segment
from toolcrib.model import Variant


@pytest.mark.parametrize(
    ("terms", "scores"),
    [
        (("file",), {"a": FILE_IN_A}),
        (("map",), {"b": MAP_IN_B}),
        (("file", "read"), {"a": FILE_IN_A + READ_IN_A, "b": 1e-6 * 2.2 / 2.65}),
    ],
)
def test_scores_are_those_computed_by_hand(terms: tuple[str, ...], scores: dict[str, float]):
    arm = Bm25(Segment.of([row(document, WEIGHTS) for document in THREE]))
    assert dict(arm.lookup(Variant("", terms=terms))) == pytest.approx(scores, rel=1e-6)
