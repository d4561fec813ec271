from pathlib import Path

import pytest

from tests.hand_made import THREE, doc
from toolcrib.index import SqliteEngine, Superseded
from toolcrib.index.sqlite.tables import current_pointer, switch_pointer
from toolcrib.store import SqliteStore


def as_by_another_version(store: SqliteStore) -> None:
    with store.write() as db:
        switch_pointer(db, current_pointer(db)._replace(format=99, mark="theirs"))


def ids(engine: SqliteEngine) -> list[str]:
    with engine.view() as view:
        return [*view.ids()]


def test_an_index_is_there_when_the_file_is_opened_again(tmp_path: Path):
    with SqliteStore.open(tmp_path / "catalog.db") as store:
        SqliteEngine(store).rebuild(THREE, mark="three")
    with SqliteStore.open(tmp_path / "catalog.db") as store:
        engine = SqliteEngine(store)
        assert engine.mark() == "three"
        assert ids(engine) == ["a", "b", "c"]


def test_two_engines_share_one_file(tmp_path: Path):
    path = tmp_path / "catalog.db"
    with SqliteStore.open(path) as one, SqliteStore.open(path) as other:
        writer, reader = SqliteEngine(one), SqliteEngine(other)
        writer.rebuild(THREE)
        assert ids(reader) == ["a", "b", "c"]
        reader.change(remove=["a"])
        assert ids(writer) == ["b", "c"]


def test_what_another_version_made_is_taken_for_empty(store: SqliteStore):
    SqliteEngine(store).rebuild(THREE)
    as_by_another_version(store)
    engine = SqliteEngine(store)
    assert engine.mark() == ""
    assert ids(engine) == []


def test_what_another_version_makes_meanwhile_is_none_of_ours(store: SqliteStore):
    engine = SqliteEngine(store)
    as_by_another_version(store)
    assert engine.mark() == ""
    with pytest.raises(Superseded):
        ids(engine)
    with pytest.raises(Superseded):
        engine.change(remove=["a"])


def test_only_the_tables_of_one_generation_are_kept(store: SqliteStore):
    engine = SqliteEngine(store)
    for _ in range(3):
        engine.rebuild(THREE)
        engine.change([doc("d")])
    with store.read() as db:
        names = db.execute("SELECT name FROM sqlite_schema WHERE name GLOB 'doc_*'").fetchall()
    assert len(names) == 1


def test_words_of_labels_are_read_once_a_generation(store: SqliteStore):
    engine = SqliteEngine(store)
    with engine.view() as one, engine.view() as other:
        assert one.like.labels() is other.like.labels()
    engine.rebuild(THREE)
    with engine.view() as later:
        assert later.like.labels().longest == 8


def test_documents_are_made_before_the_file_is_locked(tmp_path: Path):
    """Whoever makes them may keep vectors in the same store."""
    with SqliteStore.open(tmp_path / "catalog.db") as store:
        engine = SqliteEngine(store)

        def making():
            for document in THREE:
                store.keep_vectors("m", {})
                engine.change([doc("x")])
                yield document

        engine.rebuild(making())
        assert ids(engine) == ["a", "b", "c"]
