"""Packs: what was written is what is mapped; a file that is not just that is refused."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.plan import amount
from tests.racing import killed, raced
from tests.store.packing import KEY, KIND, contents_of, write_for_ever, write_generation
from tests.store.test_full_disk import room_for
from toolcrib.store import Pack, PackDamaged, set_pack_aside, write_pack

HEADER = {"mark": "m", "names": ["读取", "é"]}
SECTIONS = {
    "names": b"a\nb\nc",
    "rank:numbers": np.arange(10, dtype=np.int32),
    "lazy:definitions": [b"one", b"", memoryview(b"two")],
    "empty": np.zeros(0, dtype=np.float16),
    "matrix": np.eye(3, dtype=np.float32),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "packs" / "some.pack"
    write_pack(path, KIND, HEADER, SECTIONS, KEY)
    return path


def opened(path: Path) -> Pack:
    return Pack.open(path, KIND, KEY)


def test_a_pack_has_what_was_written(path: Path):
    pack = opened(path)
    assert pack.header == HEADER
    assert bytes(pack.view("names")) == b"a\nb\nc"
    assert pack.array("rank:numbers", np.int32).tolist() == list(range(10))
    assert bytes(pack.view("lazy:definitions")) == b"onetwo"
    assert pack.array("empty", np.float16).size == 0
    assert pack.array("matrix", np.float32).reshape(3, 3).tolist() == np.eye(3).tolist()
    assert "names" in pack
    assert "other" not in pack


def test_arrays_are_aligned_and_cannot_be_written(path: Path):
    array = opened(path).array("matrix", np.float32)
    assert array.ctypes.data % 64 == 0
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_the_file_is_private_and_nothing_else_is_left(path: Path):
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_no_file_is_told_from_a_damaged_one(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "none.pack")


@pytest.mark.parametrize(
    "other",
    [
        lambda path: Pack.open(path, "another kind", KEY),
        lambda path: Pack.open(path, KIND, bytes(31) + b"x"),
    ],
    ids=["kind", "key"],
)
def test_a_foreign_pack_is_refused(path: Path, other: Callable[[Path], Pack]):
    with pytest.raises(PackDamaged):
        other(path)


@pytest.mark.parametrize("part", ["names", "rank:numbers", "matrix", "table"])
def test_every_byte_that_counts_is_checked(path: Path, part: str):
    content = path.read_bytes()
    found = b'{"kind"' if part == "table" else bytes(opened(path).view(part))
    start = content.index(found)
    end = len(content) if part == "table" else start + len(found)
    for at in range(start, end):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :])
        with pytest.raises(PackDamaged):
            opened(path)


def test_a_file_that_was_cut_short_is_refused(path: Path):
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(PackDamaged):
            opened(path)


def test_a_section_may_not_take_the_place_of_another(tmp_path: Path):
    """Both are sealed, and of the same length."""
    path = tmp_path / "two.pack"
    write_pack(path, KIND, {}, {"approved": b"a" * 64, "refused": b"b" * 64}, KEY)
    content = path.read_bytes()
    swapped = content.replace(b"a" * 64, b"?").replace(b"b" * 64, b"a" * 64)
    path.write_bytes(swapped.replace(b"?", b"b" * 64))
    with pytest.raises(PackDamaged):
        opened(path)


@pytest.mark.parametrize("content", [b"", b"x", b"tcpack01", b"tcpack00" * 100, bytes(10_000)])
def test_anything_else_is_refused(tmp_path: Path, content: bytes):
    path = tmp_path / "other.pack"
    path.write_bytes(content)
    with pytest.raises(PackDamaged):
        opened(path)


def test_a_link_or_a_pipe_is_not_opened(path: Path):
    link, pipe = path.with_name("link"), path.with_name("pipe")
    link.symlink_to(path)
    os.mkfifo(pipe)
    for each in (link, pipe):
        with pytest.raises((OSError, PackDamaged)):
            opened(each)


def test_a_mapped_pack_stays_as_it_is(path: Path):
    """When its file is replaced, and when it is removed."""
    pack = opened(path)
    write_pack(path, KIND, {}, {"names": b"other"}, KEY)
    assert bytes(pack.view("names")) == b"a\nb\nc"
    path.unlink()
    assert pack.array("rank:numbers", np.int32).tolist() == list(range(10))


def test_a_damaged_file_is_set_aside(path: Path):
    set_pack_aside(path)
    assert [each.name for each in path.parent.iterdir()] == ["some.pack.bad"]
    set_pack_aside(path)  # nothing is there


def test_the_old_pack_stays_when_the_disk_is_full(path: Path):
    for size in range(0, 8_192, 512):
        with room_for(size), pytest.raises(OSError, match="File too large"):
            write_pack(path, KIND, {}, {"names": bytes(100_000)}, KEY)
        assert opened(path).header == HEADER
        assert list(path.parent.iterdir()) == [path]


def test_the_old_pack_stays_when_making_the_new_one_fails(path: Path):
    with pytest.raises(ZeroDivisionError):
        write_pack(path, KIND, {}, {"names": (b"%d" % (1 // n) for n in (1, 0))}, KEY)
    assert opened(path).header == HEADER
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_may_not_be_written_is_said(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match=r"Not a directory|exists"):
        write_pack(tmp_path / "file" / "some.pack", KIND, {}, {}, KEY)


def test_of_two_who_write_at_once_one_wins_whole(tmp_path: Path):
    path = tmp_path / "some.pack"
    raced(*[partial(write_generation, path, number, 30) for number in (1, 2)])
    assert contents_of(path) in {1, 2}


@pytest.mark.plan(2)
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_writer_that_is_killed_leaves_a_whole_pack(tmp_path: Path):
    path, chance = tmp_path / "some.pack", Random(3)
    write_generation(path, 0)
    seen: set[int] = set()
    for _ in range(amount(2, "kills")):
        killed(write_for_ever, path, after_s=chance.uniform(0, 0.2))
        seen.add(contents_of(path))
    assert len(seen) > 1
