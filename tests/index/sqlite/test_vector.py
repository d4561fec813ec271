import pytest

from tests.hand_made import doc
from toolcrib.index import SqliteEngine
from toolcrib.index.sqlite.vector import Vector
from toolcrib.model import Variant
from toolcrib.store import SqliteStore


def test_scores_are_cosines_above_zero_and_there_are_as_many_as_there_are(store: SqliteStore):
    engine = SqliteEngine(store)
    many = [doc(f"{number:04}", vector=(0.8, 0.6)) for number in range(5000)]
    engine.rebuild([doc("b", vector=(1, 0)), doc("c", vector=(-1, 0)), doc("d"), *many])
    with engine.view() as view:
        arm = Vector(view.tables)
        ranking = arm.lookup(Variant("", vector=(1.0, 0.0)))
        three = arm.lookup(Variant("", vector=(1.0, 0.0)), limit=3)
    assert ranking[0] == ("b", pytest.approx(1.0))
    assert [match.id for match in ranking[1:]] == [document.id for document in many]
    assert ranking[1].score == pytest.approx(0.8)
    assert three == ranking[:3]


@pytest.mark.parametrize("vector", [None, (0.0, 0.0)])
def test_a_query_that_points_nowhere_finds_nothing(
    store: SqliteStore, vector: tuple[float, ...] | None
):
    engine = SqliteEngine(store)
    engine.rebuild([doc("b", vector=(1, 0)), doc("zero", vector=(0, 0))])
    with engine.view() as view:
        assert not Vector(view.tables).lookup(Variant("", vector=vector))
