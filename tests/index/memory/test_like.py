import pytest

from tests.hand_made import READ_FIL, THREE
from toolcrib.index.memory import like
from toolcrib.index.memory.inverted_index import Segment
from toolcrib.index.memory.like import Like, rows
from toolcrib.model import Variant


@pytest.fixture
def arm() -> Like:
    return Like(Segment.of([row for document in THREE for row in rows(document)]))


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
