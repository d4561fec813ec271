"""The log of events: what is written is read, and no more of it than was asked for stays."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from tests.defaults import RETENTION
from tests.waiting import until
from toolcrib.errors import StoreError
from toolcrib.model import Event, EventKind
from toolcrib.store import EventFile, EventFilter, Retention
from toolcrib.store.file_clock import DAY_S, ClockReading
from toolcrib.store.rollups import MOST_NAMES, OTHERS

NOW = 1_000_000_000.0
HOUR = int(NOW // 3_600)


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


def call(number: int = 0, at: float = NOW) -> Event:
    return Event(at, "call", "ann", name=f"t{number}", seconds=0.5, facts={"pin": "p"})


def search(number: int = 0, query: str = "") -> Event:
    return Event(NOW, "search", "ann", name=f"s{number}", query=query)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "events.db"


def opened(
    path: Path,
    rows: int = 100,
    days: float = 30.0,
    query_days: float = 0.0,
    clock: Callable[[], ClockReading] | None = None,
) -> EventFile:
    return EventFile(path, Retention(rows, days, query_days), clock=clock or Machine())


def logged(file: EventFile, *kinds: EventKind) -> list[str]:
    return [each.name for each in file.newest(1_000_000, EventFilter(kinds)).values()]


def test_what_is_written_is_there_for_the_next_who_opens_it_latest_first(path: Path):
    first = opened(path)
    assert list(first.write([call(1), call(2)])) == [1, 2]
    first.close()
    later = opened(path)
    assert list(later.write([call(3)])) == [3]
    assert later.newest(2) == {3: call(3), 2: call(2)}
    assert list(later.newest(2)) == [3, 2]
    later.close()


def test_the_file_is_ours_alone(path: Path):
    opened(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_it_holds_so_many_and_none_that_is_older(path: Path, machine: Machine):
    file = opened(path, rows=5, days=2.0, clock=machine)
    file.write([call(0)])
    machine.run(DAY_S)
    file.write([call(1)])
    machine.run(1.5 * DAY_S)
    file.write([call(2)])
    assert logged(file) == ["t2", "t1"]
    for number in range(20):
        file.write([call(number)])
    assert logged(file) == ["t19", "t18", "t17", "t16", "t15"]
    file.close()


@pytest.mark.plan(81)
def test_a_flood_of_one_kind_erases_no_other(path: Path):
    file = opened(path, rows=50)
    file.write([call(1), Event(NOW, "approval", name="a"), Event(NOW, "definition", name="d")])
    for _ in range(20):
        file.write([search(number) for number in range(100)])
    assert len(logged(file, "search")) == 50
    assert logged(file, "call", "approval", "definition") == ["d", "a", "t1"]
    file.close()


@pytest.mark.parametrize("days", [40, 4_000, -40, -15_000])
@pytest.mark.parametrize("again", [False, True], ids=["running", "started again"])
def test_a_clock_that_is_put_forward_or_back_erases_nothing(
    path: Path, machine: Machine, days: int, again: bool
):
    file = opened(path, clock=machine)
    for number in range(50):
        file.write([call(number, machine.wall)])
        machine.run(60.0)
    machine.wall += days * DAY_S
    if again:
        file.close()
        machine.start_again()
        file = opened(path, clock=machine)
    for number in range(50, 55):
        file.write([call(number, machine.wall)])
        machine.run(60.0)
    assert len(logged(file)) == 55
    machine.wall -= days * DAY_S
    file.write([call(55, machine.wall)])
    assert len(logged(file)) == 56
    assert sum(each.count for _, each in file.rollups(-(10**9))) == 56
    file.close()


def test_many_who_open_it_after_a_jump_erase_nothing(path: Path, machine: Machine):
    first = opened(path, clock=machine)
    first.write([call(0)])
    first.close()
    machine.wall += 400 * DAY_S
    for number in range(1, 41):
        file = opened(path, clock=machine)
        file.write([call(number, machine.wall)])
        file.close()
        machine.run(5.0)
    file = opened(path, clock=machine)
    assert len(logged(file)) == 41
    file.close()


def test_a_machine_that_was_off_makes_no_row_older_than_a_day(path: Path, machine: Machine):
    file = opened(path, clock=machine, days=30.0)
    file.write([call(0)])
    for number in range(1, 31):
        machine.start_again(off_s=90 * DAY_S)
        file.write([call(number)])
    assert len(logged(file)) == 31
    machine.start_again(off_s=90 * DAY_S)
    file.write([call(31)])
    assert "t0" not in logged(file)
    file.close()


def test_the_text_of_a_query_goes_before_its_row_bytes_and_all(path: Path, machine: Machine):
    file = opened(path, query_days=7.0, clock=machine, rows=1)
    file.write([search(1, "a very telling query")])
    machine.run(6 * DAY_S)
    file.write([call(1)])
    assert [each.query for each in file.newest(9, EventFilter(("search",))).values()] == [
        "a very telling query"
    ]
    machine.run(2 * DAY_S)
    file.write([call(2)])
    assert [each.query for each in file.newest(9, EventFilter(("search",))).values()] == [""]
    file.close()
    written = b"".join(each.read_bytes() for each in path.parent.glob("events.db*"))
    assert b"telling" not in written


def test_texts_go_at_once_when_they_are_kept_no_longer(path: Path):
    file = opened(path, query_days=7.0)
    file.write([search(1, "a telling query")])
    file.close()
    file = opened(path, query_days=0.0)
    file.write([call(1)])
    assert {each.query for each in file.newest(9).values()} == {""}
    file.close()


def test_what_is_meant_is_found_page_by_page(path: Path):
    file = opened(path)
    file.write(
        [
            Event(NOW, "call", "ann@x", "cursor", name="mcp_github_a", server="github"),
            Event(NOW, "call", "ann@x", name="mcp_github_gone", code="unknown_tool"),
            Event(NOW + 9, "call", "bob", "codex", name="mcp_slack_b", server="slack", code="x"),
            Event(NOW + 9, "approval", "bob", name="mcp_slack_b", code="allowed"),
            Event(NOW + 9, "approval", "bob", name="mcp_slack_c", code="denied"),
        ]
    )

    def names(which: EventFilter) -> list[str]:
        return [each.name for each in file.newest(99, which).values()]

    assert names(EventFilter(server="github", stem="mcp_github_")) == [
        "mcp_github_gone",
        "mcp_github_a",
    ]
    assert names(EventFilter(client="cursor")) == ["mcp_github_a"]
    assert names(EventFilter(client="ann@x")) == ["mcp_github_gone", "mcp_github_a"]
    assert names(EventFilter(failed=True)) == ["mcp_slack_c", "mcp_slack_b", "mcp_github_gone"]
    assert names(EventFilter(("call",), failed=True, since=NOW + 1)) == ["mcp_slack_b"]
    first = file.newest(2)
    assert list(first) == [5, 4]
    assert list(file.newest(2, before=min(first))) == [3, 2]
    assert list(file.after(2, 2)) == [4, 5]
    file.close()


def test_hours_are_rolled_up_and_added_to(path: Path):
    first, second = opened(path), opened(path)
    first.write([call(1), call(1), call(1)._replace(code="x", seconds=99.0)])
    second.write([call(1)._replace(seconds=0.0007)])
    lists = {"eager": 1_000, "sent": 60, "how": "counted"}
    second.write([Event(NOW, "list", facts=lists), Event(NOW + 3_600, "list", facts=lists)])
    found = {(key.hour - HOUR, *key[1:]): each for key, each in first.rollups(HOUR)}
    ok = found[0, "call", "t1", "", "", ""]
    assert (ok.count, ok.seconds) == (3, 1.0007)
    assert ok.buckets[0] == 1  # within a millisecond
    assert ok.buckets[8] == 2  # from 250 to 500
    assert found[0, "call", "t1", "", "x", ""].buckets[-1] == 1
    listed = found[1, "list", "", "", "", "counted"]
    assert (listed.count, listed.eager, listed.sent) == (1, 1_000, 60)
    assert {key.kind for key, _ in first.rollups(HOUR, "list")} == {"list"}
    assert not first.rollups(HOUR + 2)
    first.close()
    second.close()


@pytest.mark.plan(81)
def test_names_that_somebody_makes_up_are_counted_together(path: Path):
    file = opened(path, rows=10)
    unknown = [call(n)._replace(code="unknown_tool", facts={"pin": ""}) for n in range(2_000)]
    many = [call(n) for n in range(2_000)]
    file.write([*unknown, *many])
    rows = dict(file.rollups(HOUR))
    assert len(rows) == MOST_NAMES + 2
    assert sum(each.count for key, each in rows.items() if key.name == OTHERS) == 4_000 - MOST_NAMES
    file.close()


def test_roll_ups_outlive_events_and_end_too(path: Path, machine: Machine):
    file = opened(path, rows=1, days=1.0, clock=machine)
    file.write([call(1)])
    machine.run(300 * DAY_S)
    file.write([call(2, machine.wall)])
    assert logged(file) == ["t2"]
    assert len(file.rollups(0)) == 2
    machine.run(150 * DAY_S)
    file.write([call(3, machine.wall)])
    assert [key.name for key, _ in file.rollups(0)] == ["t2", "t3"]
    file.close()


def test_several_write_at_once(path: Path):
    files = [opened(path, rows=1_000) for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: files[number % 4].write([call(number)]), range(80)))
    assert {*logged(files[0])} == {f"t{n}" for n in range(80)}
    assert sum(each.count for _, each in files[0].rollups(HOUR)) == 80
    for file in files:
        file.close()


WRITER = """
import sys
from pathlib import Path
from toolcrib.model import Event
from toolcrib.store import EventFile, Retention
file = EventFile(Path(sys.argv[1]), Retention(100_000, 30.0, 0.0))
print("up", flush=True)
number = 0
while number < int(sys.argv[3]):
    batch = [Event(1e9, "call", name=f"{sys.argv[2]}{number + n}", facts={"pin": "p"})
             for n in range(10)]
    file.write(batch)
    number += 10
"""


def writer(path: Path, name: str, most: int) -> "subprocess.Popen[str]":
    arguments = [sys.executable, "-c", WRITER, str(path), name, str(most)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


@pytest.mark.plan(82)
def test_processes_share_a_file_and_one_that_is_killed_leaves_it_whole(path: Path):
    other, killed = writer(path, "a", 300), writer(path, "b", 10**9)
    with other, killed:
        assert killed.stdout
        assert killed.stdout.readline() == "up\n"
        file = EventFile(path, RETENTION)
        until(lambda: any(name.startswith("b") for name in logged(file)))
        os.kill(killed.pid, signal.SIGKILL)
        other.wait()
    found = logged(file, "call")
    assert {name for name in found if name[0] == "a"} == {f"a{n}" for n in range(300)}
    bs = {int(name[1:]) for name in found if name[0] == "b"}
    assert bs == set(range(len(bs)))
    assert len(bs) % 10 == 0  # each batch whole, or not at all
    assert sum(each.count for _, each in file.rollups(0)) == len(found)
    file.close()


def test_a_damaged_file_is_set_aside(path: Path):
    path.parent.mkdir()
    path.write_bytes(b"not a database, and long enough to look at" * 99)
    file = opened(path)
    file.write([call(1)])
    assert file.newest(9) == {1: call(1)}
    file.close()
    assert path.with_name("events.db.corrupt-1").exists()


@pytest.mark.plan(82)
def test_a_file_that_is_damaged_while_it_is_open_is_set_aside_once(path: Path):
    before = opened(path)
    before.write([call(n) for n in range(500)])
    before.close()
    with path.open("r+b") as raw:  # every page but the first, where the schema is
        raw.seek(4_096)
        raw.write(b"\xff" * (path.stat().st_size - 4_096))
    first, second = opened(path), opened(path)
    first.write([call(1_000)])
    second.write([call(1_001)])
    assert logged(second) == ["t1001", "t1000"]
    assert len(list(path.parent.glob("*.corrupt-*"))) <= 3  # one file, with its -wal and -shm
    first.close()
    second.close()


def test_a_file_that_somebody_removes_is_made_anew(path: Path):
    file = opened(path)
    file.write([call(1)])
    for each in path.parent.glob("events.db*"):
        each.unlink()
    file.write([call(2)])
    assert logged(file) == ["t2"]
    file.close()
    other = opened(path)
    assert logged(other) == ["t2"]
    other.close()


def test_a_place_that_cannot_be_had_says_so(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="check its folder"):
        opened(tmp_path / "file" / "events.db")


@pytest.mark.plan(82)
def test_a_full_disk_is_named_and_over_when_it_is(path: Path):
    file = opened(path, rows=100_000)
    file.write([call(1)])
    pages = file._db.execute("PRAGMA page_count").get
    file._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="the disk is full"):
        file.write([call(n) for n in range(5_000)])
    assert logged(file) == ["t1"]
    file._db.execute("PRAGMA max_page_count = 1000000")
    file.write([call(2)])
    assert logged(file) == ["t2", "t1"]
    assert sum(each.count for _, each in file.rollups(HOUR)) == 2
    file.close()


def test_facts_that_are_too_long_are_left_out(path: Path):
    file = opened(path)
    file.write([call(1)._replace(facts={"hits": ["x" * 5_000]})])
    assert file.newest(1)[1].facts == {"cut": True}
    file.close()


FORMER = """
    CREATE TABLE call (
        id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, caller TEXT NOT NULL,
        tool TEXT NOT NULL, pin TEXT NOT NULL, arguments TEXT NOT NULL, verdict TEXT NOT NULL,
        code TEXT NOT NULL, effect TEXT NOT NULL, seconds REAL NOT NULL,
        source TEXT NOT NULL DEFAULT '', seen REAL NOT NULL
    )
"""
_PUT = "INSERT INTO call VALUES (NULL, ?, 'ann', ?, 'pin', 'hash', 'allow', '', '', 0.5, 'gh', ?)"


def former_log(path: Path, rows: int = 3) -> Path:
    former = path.with_name("audit.db")
    former.parent.mkdir(exist_ok=True)
    db = apsw.Connection(str(former))
    db.pragma("journal_mode", "wal")
    with db:
        db.execute(FORMER)
        db.executemany(_PUT, [(NOW + n, f"t{n}", NOW + n) for n in range(rows)])
    db.close()
    return former


def taken_over(path: Path, rows: int = 100_000, clock: Machine | None = None) -> EventFile:
    former = path.with_name("audit.db")
    return EventFile(path, Retention(rows, 30.0, 0.0), former, clock=clock or Machine())


def test_the_calls_of_a_former_log_are_events(path: Path):
    former = former_log(path)
    file = taken_over(path)
    assert logged(file) == ["t2", "t1", "t0"]
    assert file.newest(1)[3] == Event(
        NOW + 2,
        "call",
        "ann",
        name="t2",
        server="gh",
        seconds=0.5,
        facts={"pin": "pin", "arguments": "hash", "verdict": "allow", "effect": ""},
    )
    assert sum(each.count for _, each in file.rollups(0)) == 3
    assert not list(former.parent.glob("audit.db*"))
    file.close()


def test_a_large_former_log_is_taken_over_whole_and_no_jump_erases_it(path: Path):
    former_log(path, 100_000)
    later = Machine()
    later.wall += 4_000 * DAY_S
    file = taken_over(path, clock=later)
    file.write([call(1, later.wall)])
    assert len(logged(file)) == 100_000
    assert sum(each.count for _, each in file.rollups(0)) == 100_001
    file.close()


@pytest.mark.plan(82)
def test_whoever_is_killed_while_a_former_log_is_taken_over_repeats_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    former_log(path)
    monkeypatch.setattr("toolcrib.store.events.remove_former", lambda _path: None)  # killed here
    taken_over(path).close()
    file = taken_over(path)
    file.write([call(9, NOW + 9)])
    file.close()
    monkeypatch.undo()
    file = taken_over(path)
    assert logged(file) == ["t9", "t2", "t1", "t0"]
    file.close()


def test_several_take_a_former_log_over_once(path: Path):
    former_log(path, 2_000)
    with ThreadPoolExecutor(8) as threads:
        files = list(threads.map(lambda _: taken_over(path), range(8)))
    assert len(logged(files[0])) == 2_000
    for file in files:
        file.close()


def test_the_first_of_former_logs_had_neither_source_nor_age(path: Path):
    with apsw.Connection(str(former_log(path))) as db:
        db.execute("ALTER TABLE call DROP COLUMN source; ALTER TABLE call DROP COLUMN seen")
    file = taken_over(path)
    file.write([call(9)])
    assert logged(file) == ["t9", "t2", "t1", "t0"]
    file.close()


def test_a_former_log_that_is_damaged_is_set_aside(path: Path):
    former = former_log(path)
    former.write_bytes(b"no database, and long enough to be looked at" * 99)
    file = taken_over(path)
    file.write([call(1)])
    assert logged(file) == ["t1"]
    assert former.with_name("audit.db.corrupt-1").exists()
    file.close()


def test_a_database_of_another_program_is_left_alone(path: Path):
    former = path.with_name("audit.db")
    former.parent.mkdir()
    with apsw.Connection(str(former)) as db:
        db.execute("CREATE TABLE theirs (x)")
    file = taken_over(path)
    file.write([call(1)])
    file.close()
    assert former.exists()
