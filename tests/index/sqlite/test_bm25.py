import pytest

from tests.hand_made import BM25_SHARES, THREE, WEIGHTS
from toolcrib.index import SqliteEngine
from toolcrib.index.sqlite.bm25 import MOST_TERMS
from toolcrib.model import Variant
from toolcrib.store import SqliteStore


@pytest.mark.parametrize(("terms", "scores"), BM25_SHARES)
def test_scores_are_those_computed_by_hand(
    store: SqliteStore, terms: tuple[str, ...], scores: dict[str, float]
):
    engine = SqliteEngine(store, WEIGHTS)
    engine.rebuild(THREE)
    with engine.view() as view:
        assert dict(view.bm25.lookup(Variant("", terms=terms))) == pytest.approx(scores, rel=1e-6)


@pytest.mark.parametrize("term", ["fil", "name:file", "fi*", "NOT read", '"file', "^file"])
def test_a_term_is_a_term_and_no_expression(store: SqliteStore, term: str):
    engine = SqliteEngine(store, WEIGHTS)
    engine.rebuild(THREE[1:])
    with engine.view() as view:
        assert not view.bm25.lookup(Variant("", terms=(term,)))


def test_a_query_without_end_is_cut(store: SqliteStore):
    engine = SqliteEngine(store, WEIGHTS)
    engine.rebuild(THREE)
    noise = tuple(f"noise{number}" for number in range(200_000))
    with engine.view() as view:
        assert view.bm25.lookup(Variant("", terms=("file", *noise)))
        assert not view.bm25.lookup(Variant("", terms=(*noise[:MOST_TERMS], "file")))
