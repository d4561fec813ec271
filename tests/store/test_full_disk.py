"""A disk that is full, at many points of what is written: named, harmless, and over when it is."""

import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.catalogs import catalog
from tests.plan import amount
from toolcrib.errors import StoreError
from toolcrib.index import SqliteEngine
from toolcrib.review.desk import write_approval
from toolcrib.store import Decisions, SqliteStore

KEY = bytes(32)
OLD, NEW = catalog(300, prefix="old"), catalog(300, seed=1, prefix="new")
LARGE = "x" * 30_000
STEP = 8_192


@contextmanager
def room_for(size: int) -> Generator[None]:
    """No file grows beyond this; whoever tries is refused as by a disk without space."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def ids(engine: SqliteEngine) -> list[str]:
    with engine.view() as view:
        return list(view.ids())


@pytest.mark.plan(6)
def test_the_old_index_answers_until_there_is_space_again(tmp_path: Path):
    old, new = sorted(each.id for each in OLD), sorted(each.id for each in NEW)
    refused = 0
    with SqliteStore.open(tmp_path / "catalog.db") as store:
        engine = SqliteEngine(store)
        for point in range(amount(6, "points")):
            engine.rebuild(OLD, mark="old")
            try:
                with room_for(point * STEP):
                    engine.rebuild(NEW, mark="new")
            except StoreError as error:
                refused += 1
                assert "space" in str(error)  # noqa: PT017 - of those that do not fit
                assert (engine.mark(), ids(engine)) == ("old", old)
            engine.rebuild(NEW, mark="new")
            assert ids(engine) == new
        with store.read() as db:
            assert db.execute("PRAGMA integrity_check").get == "ok"
    assert refused > 5


@pytest.mark.plan(6)
def test_no_approval_is_lost_or_made_where_there_is_no_space(tmp_path: Path):
    decisions = Decisions(tmp_path / "decisions.db", KEY)
    made, refused = set[str](), 0
    for point in range(amount(6, "points")):
        name, size = f"tool{point}", (tmp_path / "decisions.db").stat().st_size
        try:
            with room_for(size + point % 8 * 1_000 - 4_000):
                write_approval(decisions, "mcp:x", name, "pin", f'"{LARGE}"')
        except StoreError as error:
            refused += 1
            assert "space" in str(error)  # noqa: PT017 - of those that do not fit
        else:
            made.add(name)
        again = Decisions(tmp_path / "decisions.db", KEY)
        for each in (decisions, again):
            assert {name for name, of in each.of("mcp:x").items() if of.approved} == made
        again.close()
    write_approval(decisions, "mcp:x", "last", "pin", "{}")
    assert set(decisions.of("mcp:x")) == made | {"last"}
    decisions.close()
    assert refused
