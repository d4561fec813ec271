"""Where packs lie and when they are written."""

import os
import subprocess
import sys
from pathlib import Path
from threading import Event, current_thread, main_thread

import pytest

from tests.waiting import HANG_S
from toolcrib.crib import pack_files
from toolcrib.crib.pack_files import PackFiles, QuietWriter


def test_each_owner_has_a_pair_of_its_own(tmp_path: Path) -> None:
    one, two = PackFiles(tmp_path, "settings.toml"), PackFiles(tmp_path, "agent.py")

    paths = {one.pool, one.index, two.pool, two.index}

    assert len(paths) == 4
    assert {path.parent for path in paths} == {tmp_path / "packs"}
    assert PackFiles(tmp_path, "agent.py").pool == two.pool


def test_the_pairs_used_last_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_files, "MOST_PAIRS", 2)
    pairs = [PackFiles(tmp_path, name) for name in ("oldest", "older", "newest", "mine")]
    for age, pair in enumerate(pairs):
        _write(pair, age * 100)

    _write(pairs[0], 1000)
    pairs[3].sweep()

    assert [pair.pool.exists() for pair in pairs] == [True, False, False, True]
    assert [pair.index.exists() for pair in pairs] == [True, False, False, True]


def test_large_pairs_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_files, "MOST_BYTES", 30)
    pairs = [PackFiles(tmp_path, name) for name in ("older", "newer", "mine")]
    for age, pair in enumerate(pairs):
        _write(pair, age * 100)

    pairs[2].sweep()

    assert [pair.pool.exists() for pair in pairs] == [False, False, True]


def test_a_sweep_needs_no_folder(tmp_path: Path) -> None:
    PackFiles(tmp_path, "mine").sweep()


def test_a_burst_is_written_once() -> None:
    written = Event()
    count: list[object] = []

    def write() -> None:
        count.append(current_thread())
        written.set()

    writer = QuietWriter(write, quiet_s=0.2)
    for _ in range(50):
        writer.note()
    assert written.wait(HANG_S)
    writer.close()

    assert len(count) == 1
    assert count[0] is not main_thread()


def test_changes_without_end_are_written_too() -> None:
    written = Event()
    writer = QuietWriter(written.set, quiet_s=3600.0, most_s=0.05)

    writer.note()

    assert written.wait(HANG_S)
    writer.close()


def test_what_changes_while_it_is_written_is_written_again() -> None:
    begun, go_on, count = Event(), Event(), list[int]()

    def write() -> None:
        count.append(1)
        begun.set()
        assert go_on.wait(HANG_S)

    writer = QuietWriter(write, quiet_s=0.0)
    writer.note()
    assert begun.wait(HANG_S)
    writer.note()
    go_on.set()
    writer.close()

    assert len(count) == 2


def test_closing_writes_at_once() -> None:
    count = list[int]()
    writer = QuietWriter(lambda: count.append(1), quiet_s=3600.0)
    writer.note()

    writer.close()
    writer.note()
    writer.close()

    assert count == [1]


def test_nothing_changed_writes_nothing() -> None:
    count = list[int]()

    QuietWriter(lambda: count.append(1)).close()

    assert count == []


def test_a_program_that_ends_without_closing_has_written() -> None:
    program = (
        "from toolcrib.crib.pack_files import QuietWriter\n"
        "QuietWriter(lambda: print('written'), quiet_s=3600.0).note()\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG_S, check=True
    )

    assert done.stdout == "written\n"


def _write(pair: PackFiles, at: float) -> None:
    for path in (pair.pool, pair.index):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * 10)
        os.utime(path, (at, at))


def test_replicas_that_hear_of_one_change_do_not_write_at_one_moment() -> None:
    latest = {QuietWriter(lambda: None, most_s=60.0)._most_s for _ in range(8)}

    assert len(latest) > 1
    assert all(30.0 <= each <= 90.0 for each in latest)


def test_a_writer_leaves_others_their_turn_until_it_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept = list[float]()
    monkeypatch.setattr(pack_files.time, "sleep", slept.append)
    writer = QuietWriter(lambda: None)

    writer.pause()
    writer.close()
    writer.pause()

    assert slept == [pack_files.PAUSE_S]
