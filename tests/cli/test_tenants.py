"""`toolcrib tenants`: list, add, switch off and on, and the settings of one."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.postgres import KEY
from toolcrib.errors import ConfigError
from toolcrib.store.postgres import DatabaseAddress


@pytest.fixture(autouse=True)
def store(new_address: DatabaseAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_STORE", new_address.text)
    monkeypatch.setenv("TOOLCRIB_INSTALL_KEY_ENV", "SHARED_SECRET")
    monkeypatch.setenv("SHARED_SECRET", KEY.hex())


def test_tenants_are_added_listed_and_switched(run: Run, monkeypatch: pytest.MonkeyPatch):
    assert "There are no tenants." in run("tenants", "list").out
    assert "acme" in run("tenants", "add", "acme").out
    monkeypatch.setenv("TOOLCRIB_TENANT", "globex")
    assert run("keys", "add", "ann").code == 0
    monkeypatch.delenv("TOOLCRIB_TENANT")
    assert [each["name"] for each in run("tenants", "list", "--json").json] == ["acme", "globex"]
    off = run("tenants", "disable", "acme", "--json").json
    assert [each["disabled"] for each in off] == [True, False]
    assert "off" in run("tenants", "list").out
    assert not run("tenants", "enable", "acme", "--json").json[0]["disabled"]


def test_a_name_that_is_taken_wrong_or_unknown_is_refused(run: Run):
    run("tenants", "add", "acme")
    for words, problem in {
        ("add", "acme"): "there is a tenant 'acme' already",
        ("add", "../acme"): "is not a name for a tenant",
        ("disable", "acne"): "there is no tenant 'acne'; nearest: acme",
        ("edit", "acne", "--from", "-"): "there is no tenant 'acne'",
    }.items():
        refused = run("tenants", *words)
        assert isinstance(refused.error, ConfigError)
        assert problem in str(refused.error)


def test_settings_of_a_tenant_come_from_a_file_and_are_checked(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run("tenants", "add", "acme")
    file = tmp_path / "acme.toml"
    file.write_text("[search]\nlimit = 3\n")
    done = run("tenants", "edit", "acme", "--from", str(file))
    assert "+limit = 3" in done.out
    assert "acme is changed." in done.out
    assert not run("tenants", "edit", "acme", "--from", str(file), "--json").json["changed"]
    file.write_text("[gateway]\nport = 80\n")
    refused = run("tenants", "edit", "acme", "--from", str(file))
    assert "`gateway.port` is no setting of a tenant" in str(refused.error)
    nothing = run("tenants", "edit", "acme")
    assert "nothing to change" in str(nothing.error)
    monkeypatch.setenv("TOOLCRIB_TENANT", "acme")
    assert run("keys", "list").code == 0  # fetches what the shared store has
    copies = list(Path.home().rglob("tenants/acme/settings.toml"))
    assert [copy.read_text() for copy in copies] == ["[search]\nlimit = 3\n"]
