from tests.catalogs import variant
from tests.hand_made import THREE, WEIGHTS, doc
from toolcrib.index import MemoryEngine

QUERY = variant("read")


def test_a_snapshot_stays_for_whoever_holds_it():
    engine = MemoryEngine(WEIGHTS)
    engine.rebuild(THREE)
    with engine.view() as view:
        pass
    before = view.arms["bm25"].lookup(QUERY)
    engine.rebuild(())
    assert view.arms["bm25"].lookup(QUERY) == before


def test_one_changed_document_leaves_the_rest_shared():
    engine = MemoryEngine(WEIGHTS)
    engine.rebuild(THREE)
    with engine.view() as before:
        engine.change([doc("c", name="ring")])
    with engine.view() as after:
        assert after.base is before.base
        assert [*after.overlay.documents] == ["c"]
