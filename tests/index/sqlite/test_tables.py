from toolcrib.index.sqlite.tables import Pointer, Tables, current_pointer, switch_pointer
from toolcrib.store import SqliteStore


def test_generations_live_side_by_side_and_leave_nothing(store: SqliteStore):
    with store.write() as db:
        before = db.execute("SELECT name FROM sqlite_schema").fetchall()
        one, eleven = Tables(db, 1), Tables(db, 11)
        one.make()
        eleven.make()
        eleven.run("INSERT INTO doc_N VALUES (1, 'a', NULL)")
        one.drop()
        assert eleven.run("SELECT id FROM doc_N").get == "a"
        eleven.drop()
        assert db.execute("SELECT name FROM sqlite_schema").fetchall() == before


def test_the_root_mark_and_chinese_are_letters_to_fts5(store: SqliteStore):
    with store.write() as db:
        tables = Tables(db, 1)
        tables.make()
        tables.run("INSERT INTO bm25_N (rowid, name) VALUES (1, 'read· 读取 取· über')")
        db.execute("CREATE VIRTUAL TABLE temp.seen USING fts5vocab('main', 'bm25_1', 'row')")
        assert {term for (term,) in db.execute("SELECT term FROM temp.seen")} == {
            *("read·", "读取", "取·", "über")
        }
        db.execute("DROP TABLE temp.seen")


def test_it_starts_at_nothing_and_stays_where_it_is_put(store: SqliteStore):
    with store.read() as db:
        assert current_pointer(db) == Pointer(0, 0, 0, "")
    with store.write() as db:
        switch_pointer(db, Pointer(3, 2, 1, "made from nothing"))
    with store.read() as db:
        assert current_pointer(db) == Pointer(3, 2, 1, "made from nothing")
