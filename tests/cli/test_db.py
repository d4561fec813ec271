from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.postgres import PostgresServer
from toolcrib import wiring
from toolcrib.errors import ConfigError, StoreAway, StoreError
from toolcrib.settings import Settings
from toolcrib.store.postgres import DatabaseAddress


@pytest.fixture
def empty(postgres_server: PostgresServer) -> DatabaseAddress:
    return postgres_server.new_database("template0")


def test_a_database_is_brought_up_to_date_and_says_so(
    run: Run, empty: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOOLCRIB_STORE", empty.text)
    before = run("db", "status")
    assert "missing" in before.out
    assert "run `toolcrib db migrate`" in before.out
    assert "is up to date." in run("db", "migrate").out
    assert run("db", "migrate", "--json").json["migrated"] == []
    after = run("db", "status", "--json").json
    assert after["missing"] == []
    assert after["done"][0]["name"] == "tables"
    assert "it is up to date" in run("db", "status").out


def test_another_role_may_be_named(
    run: Run, new_address: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOOLCRIB_STORE", "postgresql://nobody@127.0.0.1:1/x")
    assert isinstance(run("db", "status").error, StoreAway)
    assert run("db", "status", "--store", new_address.text).code == 0


def test_a_store_in_a_file_is_no_database(run: Run):
    refused = run("db", "migrate")
    assert isinstance(refused.error, ConfigError)
    assert "names no database" in str(refused.error)


def test_without_the_extra_it_says_what_to_install(
    run: Run, new_address: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(wiring, "find_spec", lambda _: None)
    refused = run("db", "status", "--store", new_address.text)
    assert "pip install 'toolcrib[postgres]'" in str(refused.error)


def test_a_password_comes_from_the_variable_that_is_named(
    run: Run, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOOLCRIB_STORE", postgres_server.address("migrated", "locked").text)
    monkeypatch.setenv("TOOLCRIB_STORE_PASSWORD_ENV", "DATABASE_SECRET")
    refused = run("db", "status")
    assert "the variable DATABASE_SECRET of `store_password_env` is not set" in str(refused.error)
    monkeypatch.setenv("DATABASE_SECRET", "not the one")
    refused = run("db", "status")
    assert isinstance(refused.error, StoreError)
    assert "not the one" not in str(refused.error)


KEY = bytes(range(32))


@pytest.mark.parametrize("content", [KEY, KEY.hex().encode(), KEY.hex().encode() + b"\n"])
def test_the_shared_secret_is_in_a_file_or_in_a_variable(tmp_path: Path, content: bytes):
    file = tmp_path / "real"
    file.write_bytes(content)
    link = tmp_path / "secret"  # as Kubernetes mounts it
    link.symlink_to(file)
    assert wiring.shared_key_of(Settings(install_key_file=link), {}) == KEY
    assert wiring.shared_key_of(Settings(install_key_env="K"), {"K": KEY.hex()}) == KEY


def test_a_shared_store_needs_one_whole_secret(tmp_path: Path):
    short = tmp_path / "key"
    short.write_text("1234")
    for settings, environ in (
        (Settings(), {}),
        (Settings(install_key_env="K", install_key_file=short), {"K": KEY.hex()}),
        (Settings(install_key_env="K"), {}),
        (Settings(install_key_env="K"), {"K": "SECRETIVE"}),
        (Settings(install_key_file=short), {}),
        (Settings(install_key_file=tmp_path / "nowhere"), {}),
    ):
        with pytest.raises(ConfigError) as refused:
            wiring.shared_key_of(settings, environ)
        assert "SECRETIVE" not in str(refused.value)
