import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import apsw
import pytest

from tests.waiting import HANG_S, let_pass
from toolcrib.errors import StoreError
from toolcrib.store.connections import FileConnections, MemoryConnection


@pytest.fixture
def file(tmp_path: Path) -> Iterator[FileConnections]:
    connections = FileConnections(tmp_path / "catalog.db")
    with connections.write() as db:
        db.execute("CREATE TABLE number (n)")
    yield connections
    connections.close()


def numbers(db: apsw.Connection) -> list[int]:
    return [n for (n,) in db.execute("SELECT n FROM number ORDER BY n")]


def test_the_file_is_in_wal_mode_with_normal_synchronisation(file: FileConnections):
    for block in (file.read, file.write):
        with block() as db:
            assert db.pragma("journal_mode") == "wal"
            assert db.pragma("synchronous") == 1
            assert db.execute("SELECT vec_version()").get


def test_a_block_reads_one_state_whatever_is_written_meanwhile(file: FileConnections):
    with file.read() as db:
        assert numbers(db) == []
        with file.write() as writer:
            writer.execute("INSERT INTO number VALUES (1)")
        with file.read() as later:
            assert numbers(later) == [1]
        assert numbers(db) == []


def test_a_block_that_raises_writes_nothing(file: FileConnections):
    def fail() -> None:
        with file.write() as db:
            db.execute("INSERT INTO number VALUES (1)")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with file.read() as db:
        assert numbers(db) == []


def test_nothing_is_written_where_one_reads(file: FileConnections):
    with pytest.raises(apsw.ReadOnlyError), file.read() as db:
        db.execute("INSERT INTO number VALUES (1)")


def test_extensions_can_be_loaded_by_nobody_else(file: FileConnections):
    with pytest.raises(apsw.SQLError), file.read() as db:
        db.execute("SELECT load_extension('anything')")


def test_a_connection_is_used_again(file: FileConnections):
    with file.read() as first, file.read() as second:
        assert first is not second
    with file.read() as db:
        assert db in (first, second)


def test_writers_take_turns(file: FileConnections):
    def add() -> None:
        for _ in range(25):
            with file.write() as db:
                db.execute("INSERT INTO number SELECT count(*) FROM number")

    threads = [Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with file.read() as db:
        assert numbers(db) == list(range(100))


def test_a_reader_may_outlive_the_closing(file: FileConnections):
    with file.read() as db:
        file.close()
        assert numbers(db) == []
    with pytest.raises(StoreError, match="was closed"), file.read():
        pass
    with pytest.raises(StoreError, match="was closed"), file.write():
        pass


OPEN_AND_ADD = """
import sys
from pathlib import Path
from toolcrib.store.connections import FileConnections
sys.stdin.readline()
for _ in range(20):
    connections = FileConnections(Path(sys.argv[1]))
    with connections.write() as db:
        db.execute("CREATE TABLE IF NOT EXISTS number (n)")
        db.execute("INSERT INTO number SELECT count(*) FROM number")
    connections.close()
"""


def test_processes_may_start_at_once_and_take_turns(tmp_path: Path):
    path = tmp_path / "catalog.db"
    command = [sys.executable, "-c", OPEN_AND_ADD, str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    children = [subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) for _ in range(4)]
    for child in children:
        assert child.stdin
        child.stdin.write(b"go\n")
        child.stdin.close()
    assert [child.wait(HANG_S) for child in children] == [0, 0, 0, 0]
    connections = FileConnections(path)
    with connections.read() as db:
        assert numbers(db) == list(range(80))
    connections.close()


def test_blocks_of_one_thread_nest_in_memory():
    memory = MemoryConnection()
    with memory.read() as db:
        with memory.write() as writer:
            writer.execute("CREATE TABLE number (n)")
        assert numbers(db) == []
    memory.close()


def test_another_thread_waits_for_its_turn_in_memory():
    memory = MemoryConnection()
    seen: list[int] = []

    def read() -> None:
        with memory.read() as db:
            seen.extend(numbers(db))

    with memory.write() as db:
        db.execute("CREATE TABLE number (n)")
        reading = Thread(target=read)
        reading.start()
        let_pass(0.05)
        db.execute("INSERT INTO number VALUES (1)")
    reading.join()
    assert seen == [1]
    memory.close()
