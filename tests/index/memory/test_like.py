from random import Random

import pytest

from tests.hand_made import READ_FIL, THREE, WEIGHTS, doc
from toolcrib.index.memory import label_words, like
from toolcrib.index.memory.base import BaseBuilder
from toolcrib.index.memory.like import Like
from toolcrib.index.memory.overlay import Overlay
from toolcrib.index.memory.rows import Masks, SnapshotRows
from toolcrib.model import NameFilter, Variant


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
    monkeypatch.setattr(label_words, "MOST_WORDS", 2)
    for word in ("read", "file", "disk", "send", "draw"):
        assert arm.lookup(Variant("", words=(word, word + "x")))
    assert len(arm._meanings) <= 2


WORDS = "get list read write file files user users issue issues search data filesystem".split()
QUERIES = [("get", "files"), ("list", "user", "issues"), ("issue", "issues", "search"), ("flie",)]


def many_labels() -> Like:
    """Labels of one to three words, as names have them."""
    random, builder = Random(7), BaseBuilder(WEIGHTS)
    for number in range(400):
        label = " ".join(random.sample(WORDS, random.randint(1, 3)))
        builder.add(doc(f"id{number:03}", name=label, labels=[label]))
    return Like(SnapshotRows(builder.built(), Overlay(), Masks()))


@pytest.mark.parametrize("words", QUERIES)
def test_common_words_count_where_the_others_are_found(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    whole = many_labels().lookup(Variant("", words=words))
    monkeypatch.setattr(like, "LONG", 3)
    monkeypatch.setattr(like, "FEW", 1)
    assert whole
    assert many_labels().lookup(Variant("", words=words)) == whole


@pytest.mark.parametrize("words", QUERIES)
def test_few_labels_are_found_as_among_all(words: tuple[str, ...]):
    arm, few = many_labels(), {f"id{number:03}" for number in range(0, 400, 9)}
    only = NameFilter.only(few)
    whole = [match for match in arm.lookup(Variant("", words=words)) if match.id in few]
    assert arm.rows.visible(only).rows is not None
    assert arm.lookup(Variant("", words=words), exclude=only) == whole
    assert arm.lookup(Variant("", words=words), exclude=only) == whole
