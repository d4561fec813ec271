import json
import os
import stat
from functools import partial
from pathlib import Path

import pytest

from tests.racing import raced
from toolcrib.client_config import (
    Backup,
    Backups,
    ChangePlan,
    ClientFile,
    UndoPlan,
    apply_plan,
    client_named,
    plan_import,
    plan_undo,
    undo_change,
)
from toolcrib.client_config.files import read_file, write_file
from toolcrib.client_config.shim import ShimCommand
from toolcrib.errors import ConfigError

TEXT = '{"mcpServers": {"a": {"command": "a"}}}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mcp.json"
    path.write_text(TEXT)
    return path


@pytest.fixture
def plan(file: Path, tmp_path: Path) -> ChangePlan:
    target = ClientFile(client_named("cursor"), file, tmp_path)
    return plan_import(target, [], tmp_path / "servers.json", ShimCommand("/bin/toolcrib"))


def test_a_file_that_was_written_since_the_look_is_left_alone(
    plan: ChangePlan, file: Path, tmp_path: Path
):
    file.write_text("{}")
    with pytest.raises(ConfigError, match="somebody else has just written it"):
        apply_plan(plan, tmp_path / "servers.json", Backups(tmp_path))
    assert file.read_text() == "{}"
    assert not (tmp_path / "servers.json").exists()
    assert Backups(tmp_path).all() == []
    with pytest.raises(ConfigError, match="somebody else"):
        write_file(file, "x", TEXT)


def test_what_failed_halfway_is_undone_as_well(plan: ChangePlan, file: Path, tmp_path: Path):
    own, backups = tmp_path / "servers.json", Backups(tmp_path)
    file.parent.chmod(0o700)
    apply_plan(plan, own, backups)
    file.write_text(TEXT)  # as if the last step had not been taken
    (backup,) = backups.all()
    undoing = plan_undo(backup, own, backups)
    assert (undoing.changed, undoing.drop) == ("nothing", ("a",))
    assert undo_change(undoing, own, backups) is None
    assert file.read_text() == TEXT
    assert json.loads(own.read_text())["mcpServers"] == {}


def test_a_file_that_is_gone_is_made_again_by_force_alone(
    plan: ChangePlan, file: Path, tmp_path: Path
):
    own, backups = tmp_path / "servers.json", Backups(tmp_path)
    apply_plan(plan, own, backups)
    file.unlink()
    (backup,) = backups.all()
    with pytest.raises(ConfigError, match="--force"):
        undo_change(plan_undo(backup, own, backups), own, backups)
    undo_change(plan_undo(backup, own, backups, force=True), own, backups, force=True)
    assert file.read_text() == TEXT


def test_backups_are_kept_apart_by_file_and_in_their_order(tmp_path: Path):
    backups = Backups(tmp_path)
    for at, name in (("2", "x"), ("1", "x"), ("3", "y")):
        backups.keep(Backup("cursor", f"/{name}", at, None, "{}"))
    assert [each.at for each in backups.of("cursor", Path("/x"))] == ["1", "2"]
    assert [each.at for each in backups.all()] == ["1", "2", "3"]


@pytest.mark.parametrize("text", ["nonsense", "[]", "{}", '{"client": "a", "known": []}'])
def test_a_backup_that_is_none_is_named(tmp_path: Path, text: str):
    folder = tmp_path / "takeover"
    folder.mkdir()
    (folder / "cursor-1.json").write_text(text)
    with pytest.raises(ConfigError, match="is not a backup of ours"):
        Backups(tmp_path).all()


def test_a_folder_or_a_pipe_is_no_file(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ConfigError, match=r"cannot be read|is not a plain file"):
            read_file(path)
    assert read_file(tmp_path / "gone") is None


def test_a_new_file_is_private_and_an_old_one_keeps_its_mode(tmp_path: Path):
    new = tmp_path / "deep" / "new.json"
    write_file(new, "{}", None)
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    new.chmod(0o644)
    write_file(new, "[]", "{}")
    assert stat.S_IMODE(new.stat().st_mode) == 0o644
    assert [each.name for each in new.parent.iterdir()] == ["new.json"]


def test_a_server_that_another_client_has_come_to_need_stays(
    plan: ChangePlan, file: Path, tmp_path: Path
):
    own, backups = tmp_path / "servers.json", Backups(tmp_path)
    apply_plan(plan, own, backups)
    (backup,) = backups.all()
    undoing = plan_undo(backup, own, backups)
    assert undoing.drop == ("a",)
    backups.keep(Backup("codex", str(tmp_path / "other"), "2", "", "", {}, ("a",)))
    undo_change(undoing, own, backups)
    assert file.read_text() == TEXT
    assert "a" in json.loads(own.read_text())["mcpServers"]


def undone(folder: Path, undoing: UndoPlan) -> str:
    try:
        undo_change(undoing, folder / "servers.json", Backups(folder))
    except ConfigError as error:
        return str(error)
    return ""


def test_one_change_is_undone_once_whoever_comes_at_the_same_moment(
    plan: ChangePlan, tmp_path: Path
):
    own, backups = tmp_path / "servers.json", Backups(tmp_path)
    apply_plan(plan, own, backups)
    undoing = plan_undo(backups.all()[0], own, backups)
    told = raced(*[partial(undone, tmp_path, undoing)] * 3)
    assert sorted(map(bool, told)) == [False, True, True]
    assert all("undone already" in each for each in told if each)
