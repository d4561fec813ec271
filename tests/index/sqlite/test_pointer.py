from toolcrib.index.sqlite.pointer import Pointer, current, switch
from toolcrib.store import SqliteStore


def test_it_starts_at_nothing_and_stays_where_it_is_put(store: SqliteStore):
    with store.read() as db:
        assert current(db) == Pointer(0, 0, 0, "")
    with store.write() as db:
        switch(db, Pointer(3, 2, 1, "made from nothing"))
    with store.read() as db:
        assert current(db) == Pointer(3, 2, 1, "made from nothing")
