import os

import pytest

from toolcrib.system import (
    create_private_file,
    read_private_file,
    sweep_temporary_files,
    write_private_file,
)


def test_a_file_is_replaced_in_one_step_and_ours_alone(tmp_path):
    path = tmp_path / "file"
    write_private_file(path, b"old")
    write_private_file(path, b"new")
    assert read_private_file(path, 10) == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_not_followed_either_way(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"theirs")
    link.symlink_to(target)
    with pytest.raises(OSError):  # noqa: PT011 - ELOOP has many texts
        read_private_file(link, 10)
    write_private_file(link, b"ours")
    assert target.read_bytes() == b"theirs"
    assert not link.is_symlink()


def test_more_than_the_limit_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    with pytest.raises(OSError, match="larger than 4"):
        read_private_file(path, 4)


def test_a_folder_that_is_full_or_gone_leaves_the_old_file(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        write_private_file(tmp_path / "gone" / "file", b"x")


def test_only_what_dead_writers_left_is_swept(tmp_path):
    dead, alive = tmp_path / ".x.json.99999999.tmp", tmp_path / f".x.json.{os.getpid()}.tmp"
    other = tmp_path / ".x.json.tmp"
    for path in (dead, alive, other):
        path.write_bytes(b"")
    sweep_temporary_files(tmp_path)
    assert list(tmp_path.iterdir()) == [alive]


def test_creating_never_replaces(tmp_path):
    path = tmp_path / "key"
    create_private_file(path, b"first")
    create_private_file(path, b"second")
    assert path.read_bytes() == b"first"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["key"]
