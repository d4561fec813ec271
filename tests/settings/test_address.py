"""`store` takes the address of a database beside a path, and never with a password."""

import traceback
from pathlib import Path

import pytest

from toolcrib.errors import ConfigError
from toolcrib.settings import Settings, load_settings

SECRET = "hunter2"
ADDRESS = "postgresql://toolcrib@db.example.com:5433/toolcrib?sslmode=verify-full"


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://toolcrib:{SECRET}@db.example.com/toolcrib",
        f"postgres://toolcrib:{SECRET}@db.example.com/toolcrib",
        f"postgresql://db.example.com/toolcrib?user=x&password={SECRET}",
        f"postgresql://db.example.com/toolcrib?sslpassword={SECRET}",
        f"mysql://toolcrib:{SECRET}@db.example.com/toolcrib",
        f"postgresql://[{SECRET}",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_repeated(address: str, tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text(f'store = "{address}"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="setting store: ") as refused:
        load_settings({}, file)
    assert SECRET not in "".join(traceback.format_exception(refused.value))
    with pytest.raises(ConfigError) as refused:
        load_settings({"TOOLCRIB_STORE": address})
    assert SECRET not in "".join(traceback.format_exception(refused.value))


def test_an_address_stays_as_it_is_and_what_is_local_lies_in_the_data_folder(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text(f'store = "{ADDRESS}"\ninstall_key_file = "key"\n', encoding="utf-8")
    settings = load_settings({}, file)
    assert settings.database == ADDRESS
    assert settings.install_key_file == tmp_path / "key"
    local = Path(settings.store_path)
    assert local.is_absolute()
    assert "postgresql" not in str(local)
    assert local != Path(Settings().store_path)
    assert settings.events_path
    assert settings.events_path.parent == local.parent


@pytest.mark.parametrize("store", ["", ":memory:", "catalog.db", "/x/postgresql/catalog.db"])
def test_a_path_is_no_database(store: str):
    assert Settings(store=store).database == ""
