import pytest

from tests.hand_made import READ_FIL, THREE, WEIGHTS
from toolcrib.index.memory import like
from toolcrib.index.memory.base import BaseBuilder
from toolcrib.index.memory.like import Like
from toolcrib.index.memory.overlay import Overlay
from toolcrib.index.memory.rows import Masks, SnapshotRows
from toolcrib.model import Variant


@pytest.fixture
def arm() -> Like:
    builder = BaseBuilder(WEIGHTS)
    for document in THREE:
        builder.add(document)
    return Like(SnapshotRows(builder.built(), Overlay(), Masks()))


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
    arm: Like, words: tuple[str, ...], scores: dict[str, float]
):
    assert dict(arm.lookup(Variant("", words=words))) == pytest.approx(scores, rel=1e-6)


def test_what_words_stand_for_is_not_remembered_without_end(arm: Like, monkeypatch):
    monkeypatch.setattr(like, "MOST_REMEMBERED", 2)
    for word in ("read", "file", "disk", "send", "draw"):
        assert arm.lookup(Variant("", words=(word, word + "x")))
    assert len(arm._meanings) <= 2
