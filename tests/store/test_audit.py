"""The log of calls: what is written is read, and no more of it than was asked for stays."""

import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from tests.defaults import RETENTION
from toolcrib.errors import StoreError
from toolcrib.store import AuditFile, AuditRow, CallFilter, Retention
from toolcrib.store.file_clock import DAY_S, ClockReading

NOW = 1_000_000_000.0


class Machine:
    """Its clocks: the one on the wall, and what has passed since it was started."""

    def __init__(self) -> None:
        self.wall, self.boot, self.since_boot = NOW, 1, 100.0

    def __call__(self) -> ClockReading:
        return ClockReading(self.wall, str(self.boot), self.since_boot)

    def run(self, seconds: float) -> None:
        self.wall += seconds
        self.since_boot += seconds

    def start_again(self, off_s: float = 60.0) -> None:
        self.wall += off_s
        self.boot, self.since_boot = self.boot + 1, 0.0


@pytest.fixture
def machine() -> Machine:
    return Machine()


def row(number: int = 0, at: float = NOW) -> AuditRow:
    return AuditRow(at, "ann", f"t{number}", "pin", "hash", "allow", "", "", 0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "audit.db"


def opened(
    path: Path, rows: int = 100, days: float = 30.0, clock: Callable[[], ClockReading] | None = None
) -> AuditFile:
    return AuditFile(path, Retention(rows, days), clock=clock or Machine())


def logged(file: AuditFile) -> list[str]:
    return [each.tool for each in file.newest(1_000)]


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


def test_it_holds_so_many_and_none_that_is_older(path: Path, machine: Machine):
    file = opened(path, rows=5, days=2.0, clock=machine)
    file.write([row(0)])
    machine.run(DAY_S)
    file.write([row(1)])
    machine.run(1.5 * DAY_S)
    file.write([row(2)])
    assert logged(file) == ["t2", "t1"]
    for number in range(20):
        file.write([row(number)])
    assert logged(file) == ["t19", "t18", "t17", "t16", "t15"]
    file.close()


@pytest.mark.parametrize("days", [40, 4_000, -40, -15_000])
@pytest.mark.parametrize("again", [False, True], ids=["running", "started again"])
def test_a_clock_that_is_put_forward_or_back_erases_nothing(
    path: Path, machine: Machine, days: int, again: bool
):
    file = opened(path, clock=machine)
    for number in range(50):
        file.write([row(number, machine.wall)])
        machine.run(60.0)
    machine.wall += days * DAY_S
    if again:
        file.close()
        machine.start_again()
        file = opened(path, clock=machine)
    for number in range(50, 55):
        file.write([row(number, machine.wall)])
        machine.run(60.0)
    assert len(logged(file)) == 55
    machine.wall -= days * DAY_S
    file.write([row(55, machine.wall)])
    assert len(logged(file)) == 56
    file.close()


def test_many_who_open_it_after_a_jump_erase_nothing(path: Path, machine: Machine):
    first = opened(path, clock=machine)
    first.write([row(0)])
    first.close()
    machine.wall += 400 * DAY_S
    for number in range(1, 41):
        file = opened(path, clock=machine)
        file.write([row(number, machine.wall)])
        file.close()
        machine.run(5.0)
    file = opened(path, clock=machine)
    assert len(logged(file)) == 41
    file.close()


def test_a_machine_that_was_off_makes_no_row_older_than_a_day(path: Path, machine: Machine):
    file = opened(path, clock=machine, days=30.0)
    file.write([row(0)])
    for number in range(1, 31):
        machine.start_again(off_s=90 * DAY_S)
        file.write([row(number)])
    assert len(logged(file)) == 31
    machine.start_again(off_s=90 * DAY_S)
    file.write([row(31)])
    assert "t0" not in logged(file)
    file.close()


def test_a_log_of_an_earlier_version_is_taken_over(path: Path, machine: Machine):
    opened(path).close()
    with apsw.Connection(str(path)) as db:
        db.execute("ALTER TABLE call DROP COLUMN seen; DROP TABLE elapsed")
        for number in range(5):
            values = (NOW - number, f"t{number}")
            db.execute(
                "INSERT INTO call (at, tool, caller, pin, arguments, verdict, code, effect,"
                " seconds) VALUES (?, ?, '', '', '', '', '', '', 0)",
                values,
            )
    machine.wall += 400 * DAY_S
    file = opened(path, clock=machine)
    file.write([row(9, machine.wall)])
    assert len(logged(file)) == 6
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


def test_a_log_without_sources_gets_them(tmp_path: Path):
    path = tmp_path / "audit.db"
    file = AuditFile(path, RETENTION)
    file.write([row(1)])
    file.close()
    db = apsw.Connection(str(path))
    db.execute("ALTER TABLE call DROP COLUMN source")
    db.close()
    file = AuditFile(path, RETENTION)
    file.write([row(2)._replace(source="slack")])
    assert [each.source for each in file.newest(9)] == ["slack", ""]
    assert [each.tool for each in file.newest(9, CallFilter(source="slack", stem="t1"))] == [
        "t2",
        "t1",
    ]
    file.close()
