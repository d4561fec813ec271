import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from random import Random

import apsw
import numpy as np
import pytest

from tests.catalogs import catalog, variant
from toolcrib.errors import StoreError
from toolcrib.index import SqliteEngine
from toolcrib.store import SqliteStore, connections

PAGE = 4096
KEY = b"k" * 32
VECTOR = np.array([1.0, 2.0], dtype=np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "catalog.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(path) as store:
        store.keep_vectors("m", {KEY: VECTOR})
        yield store


def test_what_is_kept_is_there_after_closing(store: SqliteStore, path: Path):
    store.close()
    with SqliteStore.open(path) as again:
        assert again.cached_vectors("m", [KEY])[KEY].tolist() == [1.0, 2.0]


def test_a_closed_catalog_is_one_file(store: SqliteStore, path: Path):
    store.close()
    assert list(path.parent.iterdir()) == [path]


def test_what_is_in_memory_is_gone_after_closing():
    with SqliteStore.open(":memory:") as store:
        store.keep_vectors("m", {KEY: VECTOR})
    with SqliteStore.open(":memory:") as again:
        assert not again.cached_vectors("m", [KEY])


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_what_is_made_is_for_its_owner_alone(tmp_path: Path):
    path = tmp_path / "new" / "newer" / "catalog.db"
    with SqliteStore.open(path) as store:
        store.keep_vectors("m", {KEY: VECTOR})
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == dict.fromkeys(["catalog.db", "catalog.db-wal", "catalog.db-shm"], 0o600)
    for folder in (path.parent, path.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("content", [b"no database at all" * 99, b"SQLite format 3\0" + b"x" * 999])
def test_what_is_no_database_is_set_aside(content: bytes, path: Path, caplog):
    for number in (1, 2):
        path.write_bytes(content)
        with caplog.at_level(logging.WARNING), SqliteStore.open(path) as store:
            assert not store.cached_vectors("m", [KEY])
        aside = path.with_name(f"catalog.db.corrupt-{number}")
        assert aside.read_bytes() == content
        assert f"kept aside as {aside}" in caplog.text


def test_another_programs_database_stays_where_it_is(path: Path):
    foreign = apsw.Connection(str(path))
    foreign.execute("CREATE TABLE precious (n)")
    foreign.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program's database"):
        SqliteStore.open(path)
    assert path.read_bytes() == before


def test_damage_found_later_sets_the_file_aside(store: SqliteStore, path: Path, caplog):
    store.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    with SqliteStore.open(path) as damaged:
        for _ in range(2):
            with pytest.raises(StoreError, match="open it again"):
                damaged.cached_vectors("m", [KEY])
    assert "damaged" in caplog.text
    with SqliteStore.open(path) as fresh:
        assert not fresh.cached_vectors("m", [KEY])
    assert {file.name for file in path.parent.iterdir() if "corrupt" in file.name} >= {
        "catalog.db.corrupt-1"
    }


def test_whatever_happens_to_the_file_it_starts(path: Path, caplog):
    """Lost ends and lost pages: it answers, or says so once and then starts afresh."""
    with SqliteStore.open(path) as store:
        SqliteEngine(store).rebuild(catalog(50))
    good = path.read_bytes()
    chance = Random(4)
    for _ in range(60):
        path.write_bytes(spoilt(good, chance))
        try:
            search(path)
        except StoreError as error:
            assert "again" in str(error)  # noqa: PT017 - that it raises is not what is tested
            search(path)


def spoilt(content: bytes, chance: Random) -> bytes:
    """Cut anywhere, or with some pages blank or scrambled."""
    if chance.random() < 0.3:
        return content[: chance.randrange(len(content))]
    pages = [content[at : at + PAGE] for at in range(0, len(content), PAGE)]
    for number in chance.sample(range(len(pages)), k=chance.choice([1, 2, len(pages) // 2])):
        pages[number] = bytes(PAGE) if chance.random() < 0.5 else chance.randbytes(PAGE)
    return b"".join(pages)


def search(path: Path) -> None:
    with SqliteStore.open(path) as store, SqliteEngine(store).view() as view:
        view.ids()
        for index in view.arms.values():
            index.lookup(variant("read files", [1.0] * 8))


def test_a_full_disk_is_named_and_changes_nothing(store: SqliteStore):
    with store.write() as db:
        db.pragma("max_page_count", db.pragma("page_count") + 2)
    with pytest.raises(StoreError, match="disk is full"):
        store.keep_vectors("m", {bytes([n]): np.zeros(4096, dtype=np.float32) for n in range(9)})
    assert list(store.cached_vectors("m", [KEY, b"\0"])) == [KEY]
    with store.write() as db:
        db.pragma("max_page_count", 1 << 20)
    store.keep_vectors("m", {b"\0": VECTOR})


def test_a_file_that_may_not_be_written_can_be_read(store: SqliteStore):
    with store.write() as db:
        db.pragma("query_only", value=True)
    with pytest.raises(StoreError, match="allow writing, or name another file"):
        store.keep_vectors("m", {KEY: VECTOR})
    assert store.cached_vectors("m", [KEY])


def test_another_writer_is_waited_for_and_then_named(path: Path, monkeypatch):
    monkeypatch.setattr(connections, "BUSY_MS", 20)
    with SqliteStore.open(path) as one, SqliteStore.open(path) as other, one.write():
        with pytest.raises(StoreError, match="another process has been writing"):
            other.keep_vectors("m", {KEY: VECTOR})
        assert not other.cached_vectors("m", [KEY])


def test_a_folder_that_is_a_file_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="check its folder"):
        SqliteStore.open(tmp_path / "file" / "catalog.db")


def test_a_folder_in_its_place_is_named(tmp_path: Path):
    with pytest.raises(StoreError, match="cannot be opened"):
        SqliteStore.open(tmp_path)


def test_a_mistake_of_ours_stays_one(store: SqliteStore):
    with pytest.raises(apsw.SQLError, match="no such table"), store.read() as db:
        db.execute("SELECT 1 FROM nowhere")
