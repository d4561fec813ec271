from dataclasses import replace
from pathlib import Path

import pytest

from toolcrib.errors import SourceError
from toolcrib.sources.mcp.oauth.login_file import Login, LoginFile

LOGIN = Login("https://a", {"access_token": "t0p-secret"}, {"client_secret": "s3cret"}, 5.0)


def test_what_is_kept_is_read_by_this_server_at_this_address_alone(tmp_path: Path):
    file = LoginFile(tmp_path / "logins", "far")
    assert file.read("https://a") is None
    assert file.written == 0.0
    file.write(LOGIN)
    assert file.read("https://a") == LOGIN
    assert file.read("https://b") is None
    assert LoginFile(tmp_path / "logins", "near").read("https://a") is None
    file.path.rename(LoginFile(tmp_path / "logins", "near").path)
    assert LoginFile(tmp_path / "logins", "near").read("https://a") is None


def test_a_login_does_not_show_its_secrets():
    assert "secret" not in repr(LOGIN)
    assert "s3cret" not in repr(replace(LOGIN, expires_at=1.0))


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "logins").write_text("in the way")
    file = LoginFile(tmp_path / "logins", "far")
    with pytest.raises(SourceError, match="cannot be written"):
        file.write(LOGIN)
    with pytest.raises(SourceError, match="cannot be removed"):
        file.forget()


def test_a_link_is_not_followed(tmp_path: Path):
    file = LoginFile(tmp_path, "far")
    file.write(LOGIN)
    target = tmp_path / "elsewhere.json"
    file.path.rename(target)
    file.path.symlink_to(target)
    assert file.read("https://a") is None


@pytest.mark.parametrize("damage", ["", "[]", "{", "{}", '{"format": 1}', "[" * 100_000, "\0"])
def test_what_is_damaged_counts_as_none(tmp_path: Path, damage: str):
    file = LoginFile(tmp_path, "far")
    file.path.write_text(damage)
    assert file.read("https://a") is None


def test_a_login_that_was_forgotten_is_not_renewed(tmp_path: Path):
    file = LoginFile(tmp_path, "far")
    file.write(LOGIN, renews=True)
    assert file.read(LOGIN.url) is None
    file.write(LOGIN)
    file.write(replace(LOGIN, expires_at=5.0), renews=True)
    assert file.read(LOGIN.url) == replace(LOGIN, expires_at=5.0)
    assert file.forget()
    file.write(LOGIN, renews=True)
    assert file.read(LOGIN.url) is None
