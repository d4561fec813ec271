"""What is on the disk when the power goes, in images: all that was synced, and any part of more."""

from pathlib import Path
from random import Random

import pytest

from tests.catalogs import catalog, variant
from tests.plan import amount
from toolcrib.errors import StoreError
from toolcrib.index import SqliteEngine
from toolcrib.review.desk import write_approval
from toolcrib.store import Decisions, SqliteStore

KEY = bytes(32)
GENERATIONS = {mark: catalog(count, prefix=mark) for mark, count in (("old", 80), ("new", 60))}


def image(content: bytes, synced: int, chance: Random) -> bytes:
    """All that was synced; what came after it is cut off, blank or scrambled from some point on."""
    at = chance.randrange(synced, len(content) + 1)
    rest = chance.choice([b"", bytes(len(content) - at), chance.randbytes(len(content) - at)])
    return content[:at] + rest


def copied(folder: Path, to: Path, **contents: bytes) -> None:
    to.mkdir()
    for file in folder.iterdir():
        (to / file.name).write_bytes(contents.get(file.suffix.lstrip("."), file.read_bytes()))


def searched(path: Path) -> int:
    """How many there are in an index that is whole: that of a generation, or none."""
    with SqliteStore.open(path) as store:
        engine = SqliteEngine(store)
        with engine.view() as view:
            ids = list(view.ids())
            for index in view.arms.values():
                index.lookup(variant("read files", [1.0] * 8))
        assert ids == sorted(each.id for each in GENERATIONS.get(engine.mark(), ()))
        engine.rebuild(GENERATIONS["new"], mark="new")
        return len(ids)


@pytest.mark.plan(3)
def test_of_the_index_a_whole_generation_is_left_or_a_fresh_start(tmp_path: Path):
    """SQLite syncs its log when it is folded into the file, and the file after that."""
    chance, found = Random(3), set[int]()
    there = tmp_path / "there"
    with SqliteStore.open(there / "catalog.db") as store:
        SqliteEngine(store).rebuild(GENERATIONS["old"], mark="old")
    store = SqliteStore.open(there / "catalog.db")
    SqliteEngine(store).rebuild(GENERATIONS["new"], mark="new")
    log, file = ((there / f"catalog.db{each}").read_bytes() for each in ("-wal", ""))
    for number in range(amount(3, "images")):
        to = tmp_path / f"image{number}"
        torn = {"db-wal": image(log, 0, chance)} if number else {}
        if number % 3 == 1:  # the power went while the log was folded into the file
            torn["db"] = image(file, 4_096, chance)
        copied(there, to, **torn)
        (to / "catalog.db-shm").unlink()
        try:
            found.add(searched(to / "catalog.db"))
        except StoreError as error:
            assert "again" in str(error)  # noqa: PT017 - it is set aside, and fresh the next time
            found.add(searched(to / "catalog.db"))
    store.close()
    assert found == {80, 60, 0}


@pytest.mark.plan(3)
def test_no_approval_that_was_made_is_lost(tmp_path: Path):
    chance, there = Random(33), tmp_path / "there"
    decisions = Decisions(there / "decisions.db", KEY)
    made: list[str] = []
    for number in range(amount(3, "images")):
        write_approval(decisions, "mcp:x", f"tool{number}", "pin", "{}")
        made.append(f"tool{number}")
        to = tmp_path / f"image{number}"
        copied(there, to)
        if (journal := to / "decisions.db-journal").exists():
            journal.write_bytes(image(journal.read_bytes(), 0, chance))
        again = Decisions(to / "decisions.db", KEY)
        assert {name for name, each in again.of("mcp:x").items() if each.approved} == set(made)
        again.close()
    decisions.close()
