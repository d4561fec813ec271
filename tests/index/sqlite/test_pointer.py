from toolcrib.index.sqlite.tables import Pointer, current_pointer, switch_pointer
from toolcrib.store import SqliteStore


def test_it_starts_at_nothing_and_stays_where_it_is_put(store: SqliteStore):
    with store.read() as db:
        assert current_pointer(db) == Pointer(0, 0, 0, "")
    with store.write() as db:
        switch_pointer(db, Pointer(3, 2, 1, "made from nothing"))
    with store.read() as db:
        assert current_pointer(db) == Pointer(3, 2, 1, "made from nothing")
