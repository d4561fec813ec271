"""Logins in files. What every store of logins promises is in `tests/contracts`."""

from dataclasses import replace
from pathlib import Path

import pytest

from toolcrib.errors import StoreError
from toolcrib.store import Login, LoginFiles

LOGIN = Login("https://a", {"access_token": "t0p-secret"}, {"client_secret": "s3cret"}, 5.0)


def test_a_file_that_is_moved_to_another_server_is_of_none(tmp_path: Path):
    logins = LoginFiles(tmp_path / "logins")
    logins.write("far", LOGIN)
    logins.path("far").rename(logins.path("near"))
    assert logins.read("near", "https://a") is None


def test_a_login_does_not_show_its_secrets():
    assert "secret" not in repr(LOGIN)
    assert "s3cret" not in repr(replace(LOGIN, expires_at=1.0))


def test_files_are_private(tmp_path: Path):
    logins = LoginFiles(tmp_path / "logins")
    logins.write("far", LOGIN)
    assert logins.path("far").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "logins").write_text("in the way")
    logins = LoginFiles(tmp_path / "logins")
    with pytest.raises(StoreError, match="cannot be written"):
        logins.write("far", LOGIN)
    with pytest.raises(StoreError, match="cannot be removed"):
        logins.forget("far")
    with pytest.raises(StoreError, match="cannot be locked"), logins.renewing("far"):
        pass


def test_a_link_is_not_followed(tmp_path: Path):
    logins = LoginFiles(tmp_path)
    logins.write("far", LOGIN)
    target = tmp_path / "elsewhere.json"
    logins.path("far").rename(target)
    logins.path("far").symlink_to(target)
    assert logins.read("far", "https://a") is None


@pytest.mark.parametrize("damage", ["", "[]", "{", "{}", '{"format": 1}', "[" * 100_000, "\0"])
def test_what_is_damaged_counts_as_none(tmp_path: Path, damage: str):
    logins = LoginFiles(tmp_path)
    logins.path("far").write_text(damage)
    assert logins.read("far", "https://a") is None
