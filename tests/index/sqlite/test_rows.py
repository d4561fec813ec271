from tests.hand_made import THREE, doc
from toolcrib.index.sqlite import rows
from toolcrib.index.sqlite.tables import Tables
from toolcrib.store import SqliteStore

COUNTED = ("doc_N", "spelling_N", "label_N", "bm25_N", "vector_N")


def counts(tables: Tables) -> dict[str, int]:
    return {name: tables.run("SELECT count(*) FROM " + name).get for name in COUNTED}


def test_what_goes_in_comes_out_whole(store: SqliteStore):
    with store.write() as db:
        tables = Tables(db, 1)
        tables.make()
        rows.put(tables, THREE)
        before = counts(tables)
        rows.put(tables, [doc("d", name="ring", labels=["ring bell", "x"], vector=(1, 0))])
        assert counts(tables) == {
            "doc_N": before["doc_N"] + 1,
            "spelling_N": before["spelling_N"] + 1,
            "label_N": before["label_N"] + 3,
            "bm25_N": before["bm25_N"] + 1,
            "vector_N": 1,
        }
        rows.remove(tables, ["d", "never there"])
        assert counts(tables) == before
        rows.remove(tables, ["a", "b", "c"])
        assert counts(tables) == dict.fromkeys(COUNTED, 0)
