"""The log of calls: what is written is read, and no more of it than was asked for stays."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from toolcrib.errors import StoreError
from toolcrib.store.audit import DAY_S, AuditFile, AuditRow, Retention

NOW = 1_000_000_000.0


def row(number: int = 0, at: float = NOW) -> AuditRow:
    return AuditRow(at, "ann", f"t{number}", "pin", "hash", "allow", "", "", 0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "audit.db"


def opened(path: Path, rows: int = 100, days: float = 30.0) -> AuditFile:
    return AuditFile(path, Retention(rows, days), clock=lambda: NOW)


def test_what_is_written_is_there_for_the_next_who_opens_it_latest_first(path: Path):
    first = opened(path)
    first.write([row(1), row(2)])
    first.close()
    later = opened(path)
    later.write([row(3)])
    assert later.newest(2) == [row(3), row(2)]
    later.close()


def test_the_file_is_ours_alone(path: Path):
    opened(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_it_holds_so_many_and_none_that_is_older(path: Path):
    file = opened(path, rows=5, days=2.0)
    file.write([row(0, NOW - 3 * DAY_S), row(1, NOW - DAY_S)])
    assert [each.tool for each in file.newest(9)] == ["t1"]
    for number in range(20):
        file.write([row(number)])
    assert [each.tool for each in file.newest(9)] == ["t19", "t18", "t17", "t16", "t15"]
    file.close()


def test_several_write_at_once(path: Path):
    files = [opened(path, rows=1_000) for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: files[number % 4].write([row(number)]), range(80)))
    assert {each.tool for each in files[0].newest(1_000)} == {f"t{n}" for n in range(80)}
    for file in files:
        file.close()


def test_a_damaged_file_is_set_aside(path: Path):
    path.parent.mkdir()
    path.write_bytes(b"not a database, and long enough to look at" * 99)
    file = opened(path)
    file.write([row(1)])
    assert file.newest(9) == [row(1)]
    file.close()
    assert path.with_name("audit.db.corrupt-1").exists()


def test_a_place_that_cannot_be_had_says_so(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="check its folder"):
        opened(tmp_path / "file" / "audit.db")
