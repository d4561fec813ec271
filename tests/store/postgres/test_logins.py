"""Logins in a database: no token can be read there, and one at a time is renewed."""

from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from tests.postgres import KEY, PostgresServer
from tests.waiting import let_pass
from toolcrib.store import Login
from toolcrib.store.postgres import (
    Database,
    DatabaseAddress,
    PostgresStores,
    SharedDatabase,
    TenantPlaces,
)

LOGIN = Login("https://x", {"access_token": "very secret"}, {"client_secret": "very secret"})
ROWS = "SELECT sealed FROM toolcrib.login"


@pytest.fixture
def shared(new_address: DatabaseAddress):
    with closing(SharedDatabase(Database(new_address))) as shared:
        yield shared


def logins_of(shared: SharedDatabase, folder: Path, tenant: str = "one", key: bytes = KEY):
    return PostgresStores(shared, TenantPlaces(tenant, folder, key, None)).logins


def test_no_token_stands_in_the_database(
    shared: SharedDatabase, postgres_server: PostgresServer, tmp_path: Path
):
    logins = logins_of(shared, tmp_path)
    logins.write("server", LOGIN)
    assert logins.read("server", "https://x") == LOGIN
    name = shared.database.address.text.rpartition("/")[2]
    [(stored,)] = postgres_server.execute(ROWS, name)
    assert b"very secret" not in stored
    logins.write("server", LOGIN)
    assert postgres_server.execute(ROWS, name) != [(stored,)], "no two are alike"


def test_a_login_that_was_put_elsewhere_is_none(
    shared: SharedDatabase, postgres_server: PostgresServer, tmp_path: Path
):
    logins_of(shared, tmp_path).write("server", LOGIN)
    assert logins_of(shared, tmp_path, key=bytes(32)).read("server", "https://x") is None
    name = shared.database.address.text.rpartition("/")[2]
    postgres_server.execute("UPDATE toolcrib.login SET server = 'evil'", name)
    assert logins_of(shared, tmp_path).read("evil", "https://x") is None
    postgres_server.execute("UPDATE toolcrib.login SET server = 'server', tenant = 'two'", name)
    assert logins_of(shared, tmp_path, "two").read("server", "https://x") is None


def test_one_gateway_renews_and_the_others_find_what_it_got(shared: SharedDatabase, tmp_path: Path):
    logins, renewed = logins_of(shared, tmp_path), list[str]()
    logins.write("server", LOGIN)

    def renew(name: str) -> None:
        own = logins_of(shared, tmp_path)
        with own.renewing("server"):
            found = own.read("server", "https://x")
            if found == LOGIN:
                let_pass()
                own.write("server", Login("https://x", {"access_token": name}, {}), renews=True)
                renewed.append(name)

    threads = [Thread(target=renew, args=(f"gateway {number}",)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    found = logins.read("server", "https://x")
    assert found
    assert [found.tokens["access_token"]] == renewed


def test_turns_are_by_server_and_tenant(shared: SharedDatabase, tmp_path: Path):
    one, two = logins_of(shared, tmp_path), logins_of(shared, tmp_path, "two")
    with one.renewing("a"), one.renewing("b"), two.renewing("a"):
        pass
