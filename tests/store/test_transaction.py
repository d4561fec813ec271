import apsw
import pytest

from toolcrib.store.database import transaction


@pytest.fixture
def db() -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.execute("CREATE TABLE number (n)")
    return db


def write_and_raise(db: apsw.Connection, error: BaseException) -> None:
    with transaction(db):
        db.execute("INSERT INTO number VALUES (1)")
        raise error


@pytest.mark.parametrize("error", [KeyError(), KeyboardInterrupt()])
def test_what_raises_leaves_nothing(db: apsw.Connection, error: BaseException):
    with pytest.raises(type(error)):
        write_and_raise(db, error)
    assert db.execute("SELECT count(*) FROM number").get == 0
    assert not db.in_transaction


def test_what_ends_is_there(db: apsw.Connection):
    with transaction(db):
        db.execute("INSERT INTO number VALUES (1)")
    assert db.execute("SELECT count(*) FROM number").get == 1


def test_what_sqlite_rolled_back_keeps_its_own_error(db: apsw.Connection):
    with pytest.raises(apsw.ConstraintError, match="rolled back"):
        roll_back_by_itself(db)
    assert not db.in_transaction


def roll_back_by_itself(db: apsw.Connection) -> None:
    with transaction(db):
        db.execute(
            "CREATE TEMP TRIGGER t BEFORE INSERT ON number "
            "BEGIN SELECT raise(ROLLBACK, 'rolled back'); END"
        )
        db.execute("INSERT INTO number VALUES (1)")
