"""Numbered steps that bring a database up to date: each once, in order, by one process at a time.

They are files of this package, `sql/0001_name.sql` and so on, and never change once they
were published. Which of them a database has behind it stands in its table `migration`. All that is
missing is done in one transaction: a database is up to date, or as it was.
"""

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from psycopg import sql

from toolcrib.errors import StoreError
from toolcrib.store.postgres.database import Connection, Database

LOCK = 0x746F6F6C63726962  # "toolcrib"
MIGRATE_S = 600.0

_PREPARE = """
    CREATE SCHEMA IF NOT EXISTS toolcrib;
    CREATE TABLE IF NOT EXISTS toolcrib.migration (
        number int PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now()
    );
"""
_IS_PREPARED = "SELECT to_regclass('toolcrib.migration') IS NOT NULL"
_DONE = (
    "SELECT number, name, extract(epoch FROM at)::float8 FROM toolcrib.migration ORDER BY number"
)


class Migration(NamedTuple):
    """One step, as a file of ours has it."""

    number: int
    name: str
    sql: str


class DoneMigration(NamedTuple):
    """One step that a database has behind it; `at` is in seconds since the epoch."""

    number: int
    name: str
    at: float


class DatabaseStatus(NamedTuple):
    """The steps that a database has behind it, and the names of those that it lacks."""

    done: tuple[DoneMigration, ...]
    missing: tuple[str, ...]


def known_migrations() -> tuple[Migration, ...]:
    """All steps, in order."""
    folder = files("toolcrib.store.postgres") / "sql"
    every = sorted((each for each in folder.iterdir() if each.name.endswith(".sql")), key=_name)
    steps = [(*each.name.removesuffix(".sql").split("_", 1), each.read_text()) for each in every]
    return tuple(Migration(int(number), name, text) for number, name, text in steps)


def migrate(database: Database) -> tuple[str, ...]:
    """Bring a database up to date, and return the names of the steps that were taken.

    Any number of processes may do it at once. Raises `StoreError`, also for a database of a newer
    Toolcrib, and leaves that as it is.
    """
    with database.transaction("", "durable", MIGRATE_S) as db:
        db.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        if not _is_prepared(db):
            db.execute(_PREPARE)
        missing = _missing(_done(db))
        for step in missing:
            db.execute(sql.SQL(step.sql))  # pyright: ignore[reportArgumentType] - a file of ours
            values = (step.number, step.name)
            db.execute("INSERT INTO toolcrib.migration (number, name) VALUES (%s, %s)", values)
        return tuple(step.name for step in missing)


def database_status(database: Database) -> DatabaseStatus:
    """How far a database is. Raises `StoreError`."""
    with database.transaction("", "read") as db:
        done = _done(db) if _is_prepared(db) else ()
    return DatabaseStatus(done, tuple(step.name for step in _missing(done)))


def check_migrated(database: Database) -> None:
    """Raises `StoreError` for a database that is not up to date."""
    if database_status(database).missing:
        raise StoreError(f"{database.address.shown} is not up to date; run `toolcrib db migrate`")


def _is_prepared(db: Connection) -> bool:
    [(prepared,)] = db.execute(_IS_PREPARED).fetchall()
    return bool(prepared)


def _done(db: Connection) -> tuple[DoneMigration, ...]:
    return tuple(DoneMigration(*row) for row in db.execute(_DONE).fetchall())


def _missing(done: tuple[DoneMigration, ...]) -> tuple[Migration, ...]:
    known = known_migrations()
    newest = max((step.number for step in done), default=0)
    if newest > len(known):
        versions = f"version {newest}, {len(known)} is known here"
        raise StoreError(f"the database is of a newer Toolcrib ({versions}); upgrade toolcrib")
    return tuple(step for step in known if step.number > newest)


def _name(file: Traversable) -> str:
    return file.name
