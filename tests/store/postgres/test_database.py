"""A transaction for one tenant, on connections that may get lost at any time."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Barrier, Thread

import psutil
import pytest

from tests.postgres import PASSWORD, PostgresServer, free_port
from tests.store.postgres.proxy import TcpProxy
from tests.waiting import until
from toolcrib.errors import ConfigError, StoreAway, StoreError
from toolcrib.store.postgres import Database, DatabaseAddress, check_migrated
from toolcrib.store.postgres.database import MOST_CONNECTIONS

PUT = "INSERT INTO document (name, content, generation) VALUES (%s, '', 0)"
NAMES = "SELECT name FROM document ORDER BY name"


def put(database: Database, tenant: str, name: str) -> None:
    with database.transaction(tenant, "durable") as db:
        db.execute(PUT, (name,))


def names(database: Database, tenant: str) -> list[str]:
    with database.transaction(tenant, "read") as db:
        return [name for (name,) in db.execute(NAMES)]


def put_into_a_black_hole(database: Database, proxy: TcpProxy) -> None:
    with database.transaction("one", "durable", within_s=0.5) as db:
        proxy.swallow()
        db.execute(PUT, ("b",))


def put_on_a_reset_connection(database: Database, proxy: TcpProxy) -> None:
    with database.transaction("one", "durable") as db:
        proxy.reset()
        db.execute(PUT, ("b",))


def found(database: Database) -> list[str]:
    """The names of tenant `one`; none while the database is away."""
    try:
        return names(database, "one")
    except StoreAway:
        return []


def test_a_tenant_sees_its_own_rows_alone(database: Database):
    put(database, "one", "a")
    put(database, "two", "b")
    assert names(database, "one") == ["a"]
    assert names(database, "two") == ["b"]


def test_nobody_sees_nothing_on_a_fresh_connection_and_on_a_used_one(database: Database):
    put(database, "one", "a")
    assert names(database, "") == []
    with closing(Database(database.address)) as fresh:
        assert names(fresh, "") == []
    with database.transaction("one", "read") as db:  # a session outside of any block of ours
        db.commit()
        assert db.execute("SELECT current_setting('toolcrib.tenant', true)").fetchall() == [("",)]
        assert db.execute("SELECT name FROM toolcrib.document").fetchall() == []


def test_a_question_in_one_round_trip_sees_the_same_rows(database: Database):
    put(database, "one", "a")
    put(database, "two", "b")
    sql = "SELECT name::text FROM document WHERE name <> %(name)s"
    assert database.ask("one", sql, {"name": "c'; DROP TABLE document; --"}) == [("a",)]
    assert database.ask("", sql, {"name": ""}) == []
    with pytest.raises(StoreError, match="read-only"):
        database.ask("one", "DELETE FROM document", {})
    for held in database._idle:
        held.shut_down()
    assert database.ask("two", sql, {"name": ""}) == [("b",)]


def test_nobody_writes_a_row_of_another(database: Database):
    sql = "INSERT INTO document (tenant, name, content, generation) VALUES ('two', 'a', '', 0)"
    with (
        pytest.raises(StoreError, match="row-level security"),
        database.transaction("one", "durable") as db,
    ):
        db.execute(sql)
    with pytest.raises(StoreError, match="row-level security"):
        put(database, "", "a")


def test_a_block_that_raises_leaves_nothing(database: Database):
    def fail(database: Database) -> None:
        with database.transaction("one", "durable") as db:
            db.execute(PUT, ("a",))
            raise LookupError

    with pytest.raises(LookupError):
        fail(database)
    assert names(database, "one") == []


def test_a_block_that_reads_cannot_write(database: Database):
    with pytest.raises(StoreError), database.transaction("one", "read") as db:
        db.execute(PUT, ("a",))


@pytest.mark.parametrize(
    ("kind", "server", "expected"),
    [
        ("durable", "off", "on"),
        ("durable", "local", "on"),
        ("durable", "remote_apply", "remote_apply"),
        ("quick", "on", "off"),
    ],
)
def test_a_durable_commit_waits_for_the_disk_whatever_the_server_says(
    postgres_server: PostgresServer, new_address: DatabaseAddress, kind, server, expected
):
    name = new_address.text.rpartition("/")[2]
    postgres_server.execute(f"ALTER DATABASE {name} SET synchronous_commit = '{server}'")
    with closing(Database(new_address)) as database, database.transaction("one", kind) as db:
        assert db.execute("SHOW synchronous_commit").fetchall() == [(expected,)]


def test_more_threads_than_connections_take_turns(database: Database):
    together = Barrier(3 * MOST_CONNECTIONS)

    def work(number: int) -> None:
        together.wait()
        put(database, "one", f"{number:03}")

    threads = [Thread(target=work, args=(number,)) for number in range(3 * MOST_CONNECTIONS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(names(database, "one")) == 3 * MOST_CONNECTIONS


def test_a_server_that_was_killed_is_found_again(postgres_server: PostgresServer):
    with closing(Database(postgres_server.new_database())) as database:
        put(database, "one", "a")
        postgres_server.stop(signal.SIGKILL)
        with pytest.raises(StoreAway, match="cannot be reached"):
            names(database, "one")
        with pytest.raises(StoreAway):
            put(database, "one", "b")
        postgres_server.start()
        assert until(lambda: found(database)) == ["a"]


def test_the_server_of_a_worker_that_was_killed_ends_too():
    """As one that tests start: no run leaves a database behind."""
    made = "import tests.postgres as t; s = t.running_server()"
    code = f"{made}; print(s.id, s.folder, flush=True); input()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe) as worker:
        assert worker.stdout
        server, folder = worker.stdout.readline().decode().split()
        assert psutil.pid_exists(int(server))
        worker.kill()
    until(lambda: not psutil.pid_exists(int(server)), "the server has ended")
    until(lambda: not Path(folder).exists(), "and its files are gone")


def test_an_idle_connection_that_got_lost_is_replaced_without_a_word(
    database: Database, caplog: pytest.LogCaptureFixture
):
    put(database, "one", "a")
    for held in database._idle:
        held.shut_down()
    assert names(database, "one") == ["a"]
    assert [record.getMessage() for record in caplog.records if record.name == "psycopg"] == []


def test_a_black_hole_ends_by_the_watchdog(new_address: DatabaseAddress):
    with TcpProxy(new_address) as proxy, closing(Database(proxy.address)) as database:
        put(database, "one", "a")
        proxy.swallow()
        with pytest.raises(StoreAway):  # the idle connection, then a new one
            names(database, "one")
        proxy.restore()
        assert until(lambda: found(database)) == ["a"]
        with pytest.raises(StoreAway, match=r"no answer within 0\.5 s"):
            put_into_a_black_hole(database, proxy)


def test_a_reset_in_a_transaction_leaves_nothing_and_the_next_one_goes_on(
    new_address: DatabaseAddress,
):
    with TcpProxy(new_address) as proxy, closing(Database(proxy.address)) as database:
        put(database, "one", "a")
        with pytest.raises(StoreAway):
            put_on_a_reset_connection(database, proxy)
        assert until(lambda: found(database)) == ["a"]


def test_a_connection_that_stands_still_is_replaced(postgres_server: PostgresServer):
    with closing(Database(postgres_server.new_database())) as database:
        put(database, "one", "a")
        with database.transaction("one", "read") as db:
            backend = db.info.backend_pid
        os.kill(backend, signal.SIGSTOP)
        try:
            assert names(database, "one") == ["a"], "by another connection"
        finally:
            os.kill(backend, signal.SIGCONT)


def test_a_server_that_accepts_and_says_nothing_is_away(new_address: DatabaseAddress):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = DatabaseAddress(f"postgresql://x@127.0.0.1:{silent.getsockname()[1]}/x")
        with closing(Database(address)) as database, pytest.raises(StoreAway):
            names(database, "one")


def test_while_it_is_away_nobody_waits_for_the_next_failure():
    address = DatabaseAddress(f"postgresql://x@127.0.0.1:{free_port()}/x")
    with closing(Database(address)) as database:
        with pytest.raises(StoreAway) as first:
            names(database, "one")
        with pytest.raises(StoreAway) as second:
            names(database, "one")
        assert str(first.value) == str(second.value)


def test_a_password_is_sent_and_never_told(
    postgres_server: PostgresServer, new_address: DatabaseAddress
):
    name = new_address.text.rpartition("/")[2]
    where = postgres_server.address(name, "locked").text
    postgres_server.execute("GRANT USAGE ON SCHEMA toolcrib TO locked", name)
    postgres_server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA toolcrib TO locked", name)
    right = DatabaseAddress(where, PASSWORD)
    assert PASSWORD not in repr(right)
    with closing(Database(right)) as database:
        check_migrated(database)
        with pytest.raises(StoreError, match="grant it"):
            put(database, "one", "a")
    for wrong in (None, "another secret"):
        with closing(Database(DatabaseAddress(where, wrong))) as database:
            with pytest.raises(StoreError, match="store_password_env") as refused:
                check_migrated(database)
            assert "another secret" not in str(refused.value)


def test_an_address_that_is_none_is_a_setting_to_correct():
    database = Database(DatabaseAddress("postgresql://h/db?nonsense=1"))
    with closing(database), pytest.raises(ConfigError, match="`store` is no address"):
        check_migrated(database)


def test_a_database_that_is_not_there_is_said(postgres_server: PostgresServer):
    database = Database(postgres_server.address("nowhere"))
    with closing(database), pytest.raises(StoreError, match="does not exist"):
        check_migrated(database)


def test_what_was_closed_is_not_used(database: Database):
    database.close()
    with pytest.raises(StoreError, match="was closed; open it again"):
        names(database, "one")
