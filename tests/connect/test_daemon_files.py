import os
from pathlib import Path

import pytest

from tests.connect.fakes import environ, files_in
from toolcrib.connect import (
    ConnectOptions,
    NoDaemon,
    locate_daemon,
)
from toolcrib.system import RUN_FOLDER_VARIABLE


def key(asked: ConnectOptions, **variables: str) -> str:
    return locate_daemon(asked, {"HOME": "/home/x", **variables}).key


def test_the_same_settings_are_the_same_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert key(ConnectOptions("a.toml")) == key(ConnectOptions(str(tmp_path / "a.toml")))
    assert key(ConnectOptions("a.toml")) == key(
        ConnectOptions(), TOOLCRIB_CONFIG=str(tmp_path / "a.toml")
    )
    assert key(ConnectOptions(mcp_config=("b",))) == key(
        ConnectOptions(mcp_config=(str(tmp_path / "b"),))
    )


def test_other_settings_are_another_place():
    others = [
        key(ConnectOptions()),
        key(ConnectOptions("a.toml")),
        key(ConnectOptions(mcp_config=("b",))),
        key(ConnectOptions(), TOOLCRIB_INDEX="memory"),
        key(ConnectOptions(), XDG_CONFIG_HOME="/elsewhere"),
        key(ConnectOptions(), HOME="/home/y"),
    ]
    assert len(set(others)) == len(others)


def test_what_clients_hide_or_add_makes_no_difference():
    stripped = key(ConnectOptions())
    assert key(ConnectOptions(profile="small")) == stripped
    assert key(ConnectOptions(), PATH="/bin", XDG_RUNTIME_DIR="/run/user/1", TERM="x") == stripped
    assert key(ConnectOptions(), TOOLCRIB_KEY="tc_secret") == stripped


def test_the_folder_has_to_be_ours_alone(tmp_path: Path):
    place = files_in(tmp_path)
    place.make_folder()
    assert Path(place.folder).stat().st_mode & 0o777 == 0o700
    Path(place.folder).chmod(0o755)
    with pytest.raises(NoDaemon, match=RUN_FOLDER_VARIABLE):
        place.make_folder()


def test_a_link_is_no_folder(tmp_path: Path):
    place = files_in(tmp_path)
    (tmp_path / "other").mkdir(mode=0o700)
    Path(place.folder).symlink_to(tmp_path / "other")
    with pytest.raises(NoDaemon, match="not yours alone"):
        place.make_folder()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"pid": 1}', "nonsense"])
def test_what_is_no_runtime_file_is_none(tmp_path: Path, content: str):
    place = files_in(tmp_path)
    place.make_folder()
    Path(place.info).write_text(content, encoding="utf-8")
    assert place.read_info() is None


def test_without_a_folder_of_the_system_there_is_one_of_the_user(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os.path, "isdir", lambda _path: False)
    assert locate_daemon(ConnectOptions(), {}).folder == f"/tmp/toolcrib-{os.getuid()}"


def test_socket_names_are_short_enough_for_every_system(tmp_path: Path):
    assert len(Path(locate_daemon(ConnectOptions(), environ(tmp_path)).socket).name) < 25
