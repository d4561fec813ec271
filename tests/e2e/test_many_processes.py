"""Several processes at once on one store: they index, decide and search, and none is in the way."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.catalogs import catalog
from tests.plan import amount
from tests.waiting import HANG_S
from toolcrib.index import SqliteEngine
from toolcrib.store import Decisions, SqliteStore

KEY = bytes(32)
SIZE = 100
WORKER = f"""
import sys
from pathlib import Path
import numpy as np
from tests.catalogs import catalog, variant
from toolcrib.index.sqlite.engine import SqliteEngine
from toolcrib.store.decisions import Decisions
from toolcrib.store.catalog_file import SqliteStore
from toolcrib.review.desk import write_approval
folder, number, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
documents = catalog({SIZE}, seed=int(number), prefix=f"p{{number}}-")
sys.stdin.readline()
store = SqliteStore.open(folder / "catalog.db")
decisions = Decisions(folder / "decisions.db", bytes(32))
engine = SqliteEngine(store)
for turn in range(rounds):
    engine.rebuild(documents, mark=number)
    write_approval(decisions, f"mcp:{{number}}", f"tool{{turn}}", "pin", "{{}}")
    decisions.trust(f"mcp:{{number}}-{{turn}}", {{"first": ("pin", "{{}}")}})
    store.keep_vectors("m", {{f"{{number}}-{{turn}}".encode(): np.ones(8, dtype=np.float32)}})
    with engine.view() as view:
        ids = view.ids()
        assert len(ids) == {SIZE} and len({{id.partition("-")[0] for id in ids}}) == 1, ids
        view.arms["bm25"].lookup(variant("read files", [1.0] * 8))
decisions.close()
store.close()
"""


@pytest.mark.plan(8)
def test_nothing_is_lost_and_nobody_fails_for_another(tmp_path: Path):
    count, rounds = amount(8, "processes"), amount(8, "rounds")
    children = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path), str(number), str(rounds)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for number in range(count)
    ]
    for child in children:
        assert child.stdin
        child.stdin.write("go\n")
        child.stdin.flush()
    assert [child.communicate(timeout=HANG_S)[1] for child in children] == [""] * count
    assert {child.returncode for child in children} == {0}
    decisions = Decisions(tmp_path / "decisions.db", KEY)
    for number in range(count):
        assert set(decisions.of(f"mcp:{number}")) == {f"tool{turn}" for turn in range(rounds)}
        for turn in range(rounds):
            assert set(decisions.of(f"mcp:{number}-{turn}")) == {"first"}
    decisions.close()
    with SqliteStore.open(tmp_path / "catalog.db") as store:
        wanted = [f"{number}-{turn}".encode() for number in range(count) for turn in range(rounds)]
        assert set(store.cached_vectors("m", wanted)) == set(wanted)
        engine = SqliteEngine(store)
        documents = catalog(SIZE, seed=int(engine.mark()), prefix=f"p{engine.mark()}-")
        with engine.view() as view:
            assert list(view.ids()) == sorted(each.id for each in documents)
