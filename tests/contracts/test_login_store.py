"""What `LoginStore` promises, on every engine."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace

import pytest

from tests.contracts.conftest import Engine
from toolcrib.store import Login, LoginStore

LOGIN = Login(
    "https://a",
    {"access_token": "t", "nested": {"a": [1, None, True, 2.5, "ü"]}},
    {"client_secret": "s"},
    1_800_000_000.5,
    {"issuer": "https://b"},
    {"resource": "https://a"},
)


@pytest.fixture
def logins(engine: Engine) -> LoginStore:
    return engine.open().logins


def test_a_login_is_read_by_its_server_at_its_address_alone(logins: LoginStore):
    assert logins.read("far", "https://a") is None
    logins.write("far", LOGIN)
    assert logins.read("far", "https://a") == LOGIN
    assert logins.read("far", "https://b") is None
    assert logins.read("near", "https://a") is None


def test_another_login_takes_its_place(logins: LoginStore):
    logins.write("far", LOGIN)
    other = Login("https://b", {}, {})
    logins.write("far", other)
    assert logins.read("far", "https://a") is None
    assert logins.read("far", "https://b") == other


def test_a_login_that_was_forgotten_is_not_renewed(logins: LoginStore):
    logins.write("far", LOGIN, renews=True)
    assert logins.read("far", "https://a") is None
    logins.write("far", LOGIN)
    newer = replace(LOGIN, expires_at=5.0)
    logins.write("far", newer, renews=True)
    assert logins.read("far", "https://a") == newer
    assert logins.forget("far")
    assert not logins.forget("far")
    logins.write("far", LOGIN, renews=True)
    assert logins.read("far", "https://a") is None


def test_when_it_was_written_is_known(logins: LoginStore):
    assert logins.written("far") == 0.0
    logins.write("far", LOGIN)
    assert logins.written("far") > 1_700_000_000
    logins.forget("far")
    assert logins.written("far") == 0.0


def test_it_lasts_longer_than_a_process(engine: Engine):
    before = engine.open()
    before.logins.write("far", LOGIN)
    before.close()
    assert engine.open().logins.read("far", "https://a") == LOGIN


def test_one_at_a_time_renews_a_login_and_none_is_lost(engine: Engine):
    places = [engine.open().logins for _ in range(3)]
    places[0].write("far", replace(LOGIN, tokens={"number": 0}))

    def renew(number: int) -> None:
        logins = places[number % 3]
        with logins.renewing("far"):
            login = logins.read("far", "https://a")
            assert login
            counted = int(str(login.tokens["number"])) + 1
            logins.write("far", replace(login, tokens={"number": counted}), renews=True)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(renew, range(12)))
    login = places[1].read("far", "https://a")
    assert login
    assert login.tokens == {"number": 12}


def test_the_logins_of_two_servers_are_renewed_at_the_same_time(logins: LoginStore):
    with logins.renewing("far"), logins.renewing("near"):
        logins.write("near", LOGIN)


def test_a_block_may_be_left_in_another_thread(logins: LoginStore):
    block = ExitStack()
    with ThreadPoolExecutor(1) as thread:
        thread.submit(block.enter_context, logins.renewing("far")).result()
    with ThreadPoolExecutor(1) as thread:
        thread.submit(block.close).result()
    with logins.renewing("far"):
        logins.write("far", LOGIN)
