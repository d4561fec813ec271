"""An index is rebuilt under searches and under SIGKILL; what is read is always whole."""

import os
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Event

import pytest

from tests.catalogs import catalog, variant
from tests.e2e.rebuilding import GENERATIONS, rebuild_for_ever
from tests.plan import amount
from tests.racing import killed
from toolcrib.index import MemoryEngine, SqliteEngine, View
from toolcrib.index.protocol import Engine
from toolcrib.store import SqliteStore

QUERY = variant("read files 读取文件", [1.0] * 8)
SIZE = 3_000
REBUILDS = 4
SEARCHERS = 3
KEPT_TABLES = {
    "cached_vector",
    "vector_model",
    "pointer",
    "reveals",
    "use_key",
    "use_lesson",
    "use_pair",
}
TABLES = {"doc", "spelling", "label", "bm25", "vocabulary", "vector"}
FTS5_TABLES = {"bm25_config", "bm25_data", "bm25_docsize", "bm25_idx"}


@contextmanager
def memory(_folder: Path) -> Generator[Engine]:
    yield MemoryEngine()


@contextmanager
def sqlite(folder: Path) -> Generator[Engine]:
    with SqliteStore.open(folder / "catalog.db") as store:
        yield SqliteEngine(store)


@pytest.mark.parametrize("opened", [memory, sqlite])
def test_searches_go_on_during_rebuilds_and_see_one_generation(opened, tmp_path: Path):
    """Each generation's ids begin with a letter of its own, so that a mixture shows."""
    generations = {letter: catalog(SIZE, seed=ord(letter), prefix=letter) for letter in "ab"}
    stop = Event()
    with opened(tmp_path) as engine, ThreadPoolExecutor(SEARCHERS) as threads:
        engine.rebuild(generations["b"])
        searches = [threads.submit(search_until, stop, engine) for _ in range(SEARCHERS)]
        try:
            for number in range(REBUILDS):
                engine.rebuild(generations["ab"[number % 2]])
        finally:
            stop.set()
        answers = [answer for search in searches for answer in search.result()]
    assert {len(letters) for letters in answers} == {1}
    assert {letter for letters in answers for letter in letters} == {"a", "b"}


def search_until(stop: Event, engine: Engine) -> list[set[str]]:
    answers: list[set[str]] = []
    while not stop.is_set():
        with engine.view() as view:
            answers.append(letters_seen(view))
    return answers


def letters_seen(view: View) -> set[str]:
    found = [match.id for index in view.arms.values() for match in index.lookup(QUERY, limit=50)]
    everything = view.ids()
    assert len(everything) == SIZE
    assert {*view.arms} == {"like", "bm25", "vector"}
    return {id[0] for id in (*found, everything[0], everything[-1], *view.named("readfile"))}


@pytest.mark.plan(1)
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_rebuild_killed_at_any_instant_leaves_a_whole_index(tmp_path: Path):
    seed = time.time_ns()
    print(f"seed {seed}")  # noqa: T201 - to repeat a failure; pytest shows it with one
    chance = Random(seed)
    path = tmp_path / "catalog.db"
    with SqliteStore.open(path) as store:
        SqliteEngine(store).rebuild(GENERATIONS["old"], mark="old")
    for _ in range(amount(1, "kills")):
        killed(rebuild_for_ever, path, after_s=chance.uniform(0, 0.25))
        with SqliteStore.open(path) as store:
            assert_whole(store)
    assert {file.name for file in tmp_path.iterdir()} == {"catalog.db"}


def assert_whole(store: SqliteStore) -> None:
    engine = SqliteEngine(store)
    documents = GENERATIONS[engine.mark()]
    with engine.view() as view:
        assert view.ids() == sorted(document.id for document in documents)
        number = view.tables.number
    with store.write() as db:
        db.execute(f"INSERT INTO bm25_{number}(bm25_{number}) VALUES ('integrity-check')")
        assert db.execute("PRAGMA integrity_check").get == "ok"
        for table in ("doc", "bm25", "vector"):
            assert db.execute(f"SELECT count(*) FROM {table}_{number}").get == len(documents)
        tables = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    expected = {f"{table}_{number}" for table in TABLES}
    expected |= {table.replace("bm25", f"bm25_{number}") for table in FTS5_TABLES}
    assert {name for (name,) in tables} == KEPT_TABLES | expected
