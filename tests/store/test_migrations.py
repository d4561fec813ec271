import apsw
import pytest

from toolcrib.errors import StoreError
from toolcrib.store.connections import CATALOG_APPLICATION, CATALOG_MIGRATIONS
from toolcrib.store.database import migrate


@pytest.fixture
def db() -> apsw.Connection:
    return apsw.Connection(":memory:")


def test_a_new_file_gets_every_step_and_our_name(db: apsw.Connection):
    migrate(db, CATALOG_MIGRATIONS, CATALOG_APPLICATION)
    assert db.pragma("user_version") == len(CATALOG_MIGRATIONS)
    assert db.pragma("application_id") == CATALOG_APPLICATION
    migrate(db, CATALOG_MIGRATIONS, CATALOG_APPLICATION)
    assert db.execute("SELECT * FROM pointer").fetchall() == [(0, 0, 0, "")]


def test_an_older_file_gets_the_steps_it_lacks(db: apsw.Connection):
    migrate(db, CATALOG_MIGRATIONS, CATALOG_APPLICATION)
    more = (*CATALOG_MIGRATIONS, "CREATE TABLE later (n)", "INSERT INTO later VALUES (7)")
    migrate(db, more, CATALOG_APPLICATION)
    assert db.execute("SELECT n FROM later").get == 7
    assert db.pragma("user_version") == len(more)


def test_vectors_of_older_files_are_carried_over(db: apsw.Connection):
    migrate(db, CATALOG_MIGRATIONS[:4], CATALOG_APPLICATION)
    rows = [("m", b"1", b"one"), ("m", b"2", b"two"), ("other", b"1", b"else")]
    db.executemany("INSERT INTO embedding VALUES (?, ?, ?)", rows)
    migrate(db, CATALOG_MIGRATIONS, CATALOG_APPLICATION)
    found = db.execute(
        "SELECT name, text_hash, vector FROM cached_vector JOIN vector_model m ON m.id = model"
    )
    assert sorted(found) == rows


def test_a_step_that_fails_leaves_what_was_there(db: apsw.Connection):
    migrate(db, CATALOG_MIGRATIONS, CATALOG_APPLICATION)
    more = (*CATALOG_MIGRATIONS, "CREATE TABLE later (n); INSERT INTO nowhere VALUES (1)")
    with pytest.raises(apsw.SQLError):
        migrate(db, more, CATALOG_APPLICATION)
    assert db.pragma("user_version") == len(CATALOG_MIGRATIONS)
    assert not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'later'").fetchall()


def test_a_newer_file_is_refused(db: apsw.Connection):
    migrate(db, CATALOG_MIGRATIONS, CATALOG_APPLICATION)
    db.pragma("user_version", len(CATALOG_MIGRATIONS) + 1)
    with pytest.raises(StoreError, match="upgrade toolcrib"):
        migrate(db, CATALOG_MIGRATIONS, CATALOG_APPLICATION)


def test_another_programs_database_is_refused(db: apsw.Connection):
    db.execute("CREATE TABLE precious (n)")
    with pytest.raises(StoreError, match="another program"):
        migrate(db, CATALOG_MIGRATIONS, CATALOG_APPLICATION)
    assert db.execute("SELECT group_concat(name) FROM sqlite_schema").get == "precious"
