import pytest

from tests.hand_made import READ_FIL, THREE
from toolcrib.index import SqliteEngine
from toolcrib.model import Variant
from toolcrib.store import SqliteStore


@pytest.mark.parametrize(
    ("words", "scores"),
    [
        (("read", "file"), {"a": 1.0}),
        (("read", "fil"), {"a": READ_FIL}),
        (("dsik",), {"a": 0.7}),
        (("map",), {"b": 3 / 21**0.5}),
    ],
)
def test_likeness_is_that_computed_by_hand(
    store: SqliteStore, words: tuple[str, ...], scores: dict[str, float]
):
    engine = SqliteEngine(store)
    engine.rebuild(THREE)
    with engine.view() as view:
        assert dict(view.like.lookup(Variant("", words=words))) == pytest.approx(scores, rel=1e-6)


def test_it_knows_the_words_of_labels_and_the_longest(store: SqliteStore):
    engine = SqliteEngine(store)
    engine.rebuild(THREE)
    with engine.view() as view:
        labels = view.like.labels()
    assert labels.vocabulary.words == ["disk", "draw", "file", "map", "read", "send"]
    assert labels.longest == 8
