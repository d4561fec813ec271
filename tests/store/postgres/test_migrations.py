"""Numbered steps under a lock: any number of processes at once, each step once."""

import subprocess
import sys
from contextlib import closing

import pytest

from tests.postgres import PostgresServer
from toolcrib.errors import StoreError
from toolcrib.store.postgres import (
    Database,
    DatabaseAddress,
    check_migrated,
    database_status,
    migrate,
    migrations,
)

PROCESSES = 8
MIGRATE = """
import sys
from toolcrib.store.postgres import Database, DatabaseAddress, migrate
database = Database(DatabaseAddress(sys.argv[1]))
sys.stdin.readline()
print(*migrate(database), end="")
database.close()
"""


@pytest.fixture
def empty(postgres_server: PostgresServer):
    with closing(Database(postgres_server.new_database("template0"))) as database:
        yield database


def test_eight_processes_at_once_migrate_once(empty: Database):
    command = [sys.executable, "-c", MIGRATE, empty.address.text]
    pipe = subprocess.PIPE
    every = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        for _ in range(PROCESSES)
    ]
    for each in every:
        assert each.stdin
        each.stdin.write("\n")
        each.stdin.flush()
    ends = [(*each.communicate(), each.returncode) for each in every]
    assert [code for _, _, code in ends] == [0] * PROCESSES, [error for _, error, _ in ends]
    taken = [printed for printed, _, _ in ends if printed]
    assert len(taken) == 1
    assert taken[0].split() == [step.name for step in database_status(empty).done]


def test_a_database_says_what_it_lacks(empty: Database):
    missing = database_status(empty).missing
    assert missing
    with pytest.raises(StoreError, match="run `toolcrib db migrate`"):
        check_migrated(empty)
    assert migrate(empty) == missing
    assert migrate(empty) == ()
    assert [step.name for step in database_status(empty).done] == list(missing)
    check_migrated(empty)


def test_a_step_that_fails_leaves_nothing(
    empty: Database, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
):
    known = migrations.known_migrations()
    broken = known[-1]._replace(number=len(known) + 1, name="broken", sql="SELECT nothing")
    monkeypatch.setattr(migrations, "known_migrations", lambda: (*known, broken))
    with pytest.raises(StoreError):
        migrate(empty)
    assert not database_status(empty).done
    name = empty.address.text.rpartition("/")[2]
    schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'toolcrib'"
    assert postgres_server.execute(schemas, name) == [(0,)]


def test_a_database_of_a_newer_toolcrib_is_left_alone(database: Database):
    with database.transaction("", "durable") as db:
        db.execute("INSERT INTO migration (number, name) VALUES (999, 'from_the_future')")
    for act in (migrate, database_status, check_migrated):
        with pytest.raises(StoreError, match="upgrade toolcrib"):
            act(database)


def test_a_role_that_row_security_does_not_bind_is_refused(
    postgres_server: PostgresServer, new_address: DatabaseAddress
):
    name = new_address.text.rpartition("/")[2]
    postgres_server.execute("CREATE ROLE sees_all LOGIN BYPASSRLS")
    for role, why in (("postgres", "is a superuser"), ("sees_all", "has BYPASSRLS")):
        said = f"{role}' {why}.*CREATE ROLE toolcrib LOGIN"
        database = Database(postgres_server.address(name, role))
        with closing(database), pytest.raises(StoreError, match=said):
            database_status(database)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_every_text_is_refused(
    postgres_server: PostgresServer, encoding: str
):
    name = f"in_{encoding.lower()}"
    made = f"CREATE DATABASE {name} OWNER toolcrib ENCODING '{encoding}' TEMPLATE template0"
    postgres_server.execute(made)
    database = Database(postgres_server.address(name))
    with closing(database), pytest.raises(StoreError, match=r"UTF-8.*ENCODING 'UTF8'"):
        database_status(database)
