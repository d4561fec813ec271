"""What a client's file launches is there tomorrow, too."""

import json
import sys
from importlib import metadata
from pathlib import Path

import pytest

from toolcrib.client_config.shim import is_shim, shim_command

ARCHIVE = "cache/uv/archive-v0/Njk1spqes"


@pytest.fixture
def launchers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH with `uvx` and `pipx`, and no `toolcrib`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("uv", "uvx", "pipx"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("UV", raising=False)
    return folder


def installed(place: Path, monkeypatch: pytest.MonkeyPatch, **origin: object) -> None:
    """As if we ran in an environment there, from a package index or from elsewhere."""
    told = place / "toolcrib-0.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: toolcrib\nVersion: 0\n")
    if origin:
        (told / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.setattr(metadata, "distribution", lambda _name: metadata.Distribution.at(told))
    monkeypatch.setattr(sys, "prefix", str(place))
    (place / "bin").mkdir()
    (place / "bin" / "toolcrib").write_text("")
    monkeypatch.setattr(sys, "executable", str(place / "bin" / "python"))


def words() -> list[str]:
    shim = shim_command("", None, (), shared=False)
    return [shim.command, *shim.args()]


def test_an_installed_one_is_launched_by_its_path(
    tmp_path: Path, launchers: Path, monkeypatch: pytest.MonkeyPatch
):
    installed(tmp_path / "pipx/venvs/toolcrib", monkeypatch)
    assert words() == [str(tmp_path / "pipx/venvs/toolcrib/bin/toolcrib"), "connect"]


def test_one_that_uvx_has_started_is_launched_by_uvx(
    tmp_path: Path, launchers: Path, monkeypatch: pytest.MonkeyPatch
):
    installed(tmp_path / ARCHIVE, monkeypatch)
    assert words() == [str(launchers / "uvx"), "toolcrib", "connect"]


def test_uvx_may_be_off_the_path(tmp_path: Path, launchers: Path, monkeypatch: pytest.MonkeyPatch):
    installed(tmp_path / ARCHIVE, monkeypatch)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("UV", str(launchers / "uv"))
    assert words() == [str(launchers / "uvx"), "toolcrib", "connect"]


@pytest.mark.parametrize("place", ["cache/pipx/6b774d94", "pipx/.cache/6b774d94"])
def test_one_that_pipx_has_run_is_run_by_pipx(
    place: str, tmp_path: Path, launchers: Path, monkeypatch: pytest.MonkeyPatch
):
    installed(tmp_path / place, monkeypatch)
    assert words() == [str(launchers / "pipx"), "run", "toolcrib", "connect"]


def test_it_is_taken_from_where_it_came_from(
    tmp_path: Path, launchers: Path, monkeypatch: pytest.MonkeyPatch
):
    installed(tmp_path / ARCHIVE, monkeypatch, url="file:///dist/toolcrib.whl", archive_info={})
    assert words()[1:] == ["--from", "file:///dist/toolcrib.whl", "toolcrib", "connect"]


def test_so_it_is_from_a_repository(
    tmp_path: Path, launchers: Path, monkeypatch: pytest.MonkeyPatch
):
    origin = {"url": "https://git.example/t", "vcs_info": {"vcs": "git", "commit_id": "abc"}}
    installed(tmp_path / "cache/pipx/6b", monkeypatch, **origin)
    assert words()[1:4] == ["run", "--spec", "git+https://git.example/t@abc"]


def test_options_of_ours_stand_behind_what_the_launcher_needs(
    tmp_path: Path, launchers: Path, monkeypatch: pytest.MonkeyPatch
):
    installed(tmp_path / ARCHIVE, monkeypatch)
    shim = shim_command("work", tmp_path / "config.toml", (), shared=False)
    config = ["--config", str(tmp_path / "config.toml")]
    assert shim.args() == ["toolcrib", *config, "connect", "--profile", "work"]


@pytest.mark.parametrize("place", [ARCHIVE, "cache/pipx/6b774d94"])
def test_what_is_launched_is_known_as_ours(
    place: str, tmp_path: Path, launchers: Path, monkeypatch: pytest.MonkeyPatch
):
    installed(tmp_path / place, monkeypatch)
    command, *args = words()
    assert is_shim({"command": command, "args": args})


def test_without_the_launcher_it_is_the_path(
    tmp_path: Path, launchers: Path, monkeypatch: pytest.MonkeyPatch
):
    installed(tmp_path / ARCHIVE, monkeypatch)
    monkeypatch.setenv("PATH", "")
    assert words() == [str(tmp_path / ARCHIVE / "bin/toolcrib"), "connect"]
