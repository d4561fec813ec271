"""The index in a file: it says what the documents said, whatever was changed since."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.catalogs import catalog, unit, variant
from tests.contracts.test_engine import (
    CHANGES,
    DOCUMENTS,
    QUESTIONS,
    assert_agree,
    doc,
    questions,
)
from toolcrib.index import Document, FieldWeights, MemoryEngine
from toolcrib.index.memory import overlay
from toolcrib.index.memory.base import IndexBase
from toolcrib.index.memory.index_pack import write_index_pack
from toolcrib.index.protocol import Engine
from toolcrib.model import NameFilter, Variant
from toolcrib.store import PackDamaged

KEY = bytes(32)
Changes = list[tuple[list[Document], list[str]]]


def engine_of(documents: Sequence[Document], mark: str = "") -> MemoryEngine:
    engine = MemoryEngine()
    engine.rebuild(documents, mark=mark)
    return engine


def reopened(engine: MemoryEngine, path: Path) -> MemoryEngine:
    """The engine of another process that finds the file."""
    engine.write_pack(path, KEY)
    other = MemoryEngine()
    assert other.open_pack(path, KEY, [engine.mark()])
    return other


@settings(deadline=None, max_examples=60)
@given(first=st.lists(DOCUMENTS, max_size=6), changes=CHANGES, written=st.integers(0, 5))
def test_a_packed_index_with_changes_says_what_a_new_one_would(
    tmp_path_factory: pytest.TempPathFactory, first: list[Document], changes: Changes, written: int
):
    path = tmp_path_factory.mktemp("packs") / "index.pack"
    engine, left = engine_of(first), {each.id: each for each in first}
    for number, (put, remove) in enumerate(changes):
        if number == written:
            engine = reopened(engine, path)
        engine.change(put, remove)
        left = {id: each for id, each in left.items() if id not in remove}
        left |= {each.id: each for each in put}
        fresh = engine_of(list(left.values()))
        assert_all_agree(engine, fresh, list(left))
    assert_all_agree(reopened(engine, path), engine_of(list(left.values())), list(left))


def test_a_large_packed_index_does_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """English and Chinese; many changes, and then so many that they are folded."""
    monkeypatch.setattr(overlay, "FEWEST", 200)
    chance, documents = Random(9), {each.id: each for each in catalog(500, seed=9)}
    engine = reopened(engine_of(list(documents.values())), tmp_path / "index.pack")
    for seed in range(3):
        put = catalog(80, seed=100 + seed, prefix=["", "new-"][seed % 2])
        gone = chance.sample(sorted(documents), 30)
        engine.change(put, gone)
        documents = {id: each for id, each in documents.items() if id not in gone}
        documents |= {each.id: each for each in put}
        fresh = engine_of(list(documents.values()))
        some = chance.sample(sorted(documents), 30)
        assert_all_agree(engine, fresh, some, questions(chance))


def assert_all_agree(
    one: Engine, other: Engine, some: list[str], asked: list[Variant] = QUESTIONS
) -> None:
    """Every arm under every filter, names, hashes, corrections."""
    with one.view() as left, other.view() as right:
        assert left.vector_size == right.vector_size
        assert left.text_hashes(some) == right.text_hashes(some)
        assert left.without_vector() == right.without_vector()
        for spelling in ("readfile", "files", "读取"):
            assert list(left.named(spelling)) == list(right.named(spelling))
        for word in ("raed", "flies", "wriet", "filesystm"):
            assert left.speller().correct(word) == right.speller().correct(word)
        for names in (NameFilter.only(some[:1]), NameFilter.without(some[1:])):
            for arm, index in left.arms.items():
                for query in asked:
                    mine = index.lookup(query, limit=2, exclude=names)
                    theirs = right.arms[arm].lookup(query, limit=2, exclude=names)
                    assert dict(mine) == pytest.approx(dict(theirs), abs=1e-6)
    assert_agree(one, other, asked)


def test_weights_that_are_no_whole_numbers_are_kept(tmp_path: Path):
    odd = FieldWeights(name=0.3, label=0.7, description=1.1, detail=0.9)
    engine = MemoryEngine(odd)
    engine.rebuild(catalog(50))
    before = lookup(engine)
    engine.write_pack(tmp_path / "index.pack", KEY)
    assert lookup(engine) == before


def lookup(engine: MemoryEngine) -> dict[str, float]:
    with engine.view() as view:
        return dict(view.arms["bm25"].lookup(variant("read files")))


def test_an_index_of_other_entries_is_not_taken(tmp_path: Path):
    engine = engine_of([doc("a", "read_file")], mark="theirs")
    engine.write_pack(tmp_path / "index.pack", KEY)
    other = MemoryEngine()
    assert not other.open_pack(tmp_path / "index.pack", KEY, ["ours", "ours without vectors"])
    with other.view() as view:
        assert not view.ids()


def test_an_index_of_another_installation_is_not_taken(tmp_path: Path):
    engine_of([doc("a", "read_file")]).write_pack(tmp_path / "index.pack", KEY)
    with pytest.raises(PackDamaged):
        MemoryEngine().open_pack(tmp_path / "index.pack", b"x" * 32, [""])


def test_a_scratch_anywhere_in_the_file_is_found(tmp_path: Path):
    path = tmp_path / "index.pack"
    engine_of(catalog(20), mark="ours").write_pack(path, KEY)
    content, chance = path.read_bytes(), Random(1)
    places = {at for at in range(64, len(content)) if content[at]}
    for at in chance.sample(sorted(places), 300):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(PackDamaged):
            MemoryEngine().open_pack(path, KEY, ["ours"])


def test_a_search_goes_on_when_the_file_is_replaced_and_removed(tmp_path: Path):
    path = tmp_path / "index.pack"
    engine = reopened(engine_of(catalog(300)), path)
    before = lookup(engine)
    engine_of([doc("a", "read_file")]).write_pack(path, KEY)
    path.unlink()
    assert lookup(engine) == before
    engine.change([doc("zz", "read_file")])
    assert "zz" in lookup(engine)


def test_the_index_stays_when_the_file_cannot_be_written(tmp_path: Path):
    (tmp_path / "file").write_text("")
    engine = engine_of(catalog(20))
    before = lookup(engine)
    with pytest.raises(OSError, match=r"directory|exists"):
        engine.write_pack(tmp_path / "file" / "index.pack", KEY)
    assert lookup(engine) == before


def test_vectors_that_come_later_are_those_of_their_documents(tmp_path: Path):
    chance = Random(2)
    vectors = {f"{n:03}": unit(chance, 8) for n in range(40)}
    bare = [doc(id, f"tool_{id}") for id in vectors]
    engine = reopened(engine_of(bare[:30]), tmp_path / "index.pack")
    engine.change(bare[30:])
    with engine.view() as view:
        assert view.without_vector() == sorted(vectors)
    engine.add_vectors({**vectors, "unheard": unit(chance, 8)})
    full = engine_of([doc(id, f"tool_{id}", "", tuple(v.tolist())) for id, v in vectors.items()])
    with engine.view() as view:
        assert view.without_vector() == []
        assert view.vector_size == 8
    assert_agree(engine, full, [variant("tool", unit(chance, 8).tolist()) for _ in range(5)])


def test_the_arrays_of_a_file_are_not_copied(tmp_path: Path):
    engine = reopened(engine_of(catalog(50)), tmp_path / "index.pack")
    with engine.view() as view:
        arrays = [view.base.terms.rows, view.base.vectors, view.base.lengths]
        assert not any(array.flags.owndata or array.flags.writeable for array in arrays)
        assert not isinstance(view.base.ids.buffer, bytes)
        assert np.shares_memory(view.base.terms[0].rows, view.base.terms.rows)


def test_what_changes_while_the_file_is_written_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first = {each.id: each for each in catalog(60)}
    engine = engine_of(list(first.values()), mark="before")
    early, late = doc("early", "read_file"), doc("late", "read_file")
    engine.change([early], ["0001"], mark="written")

    def write(path: Path, base: IndexBase, mark: str, key: bytes) -> None:
        write_index_pack(path, base, mark, key)
        engine.change([late, doc("0003", "draw_map")], ["early", "0002"], mark="after")

    monkeypatch.setattr("toolcrib.index.memory.engine.write_index_pack", write)
    assert engine.write_pack(tmp_path / "index.pack", KEY) == "written"
    left = {id: each for id, each in first.items() if id not in {"0001", "0002"}}
    left |= {"late": late, "0003": doc("0003", "draw_map")}
    assert_agree(engine, engine_of(list(left.values())), questions(Random(1)))
    assert engine.mark() == "after"
    with engine.view() as view:
        assert not view.base.lengths.flags.owndata
    other = MemoryEngine()
    assert other.open_pack(tmp_path / "index.pack", KEY, ["written"])
    with other.view() as view:
        assert "early" in view.ids()


def test_an_index_that_was_built_anew_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    engine = engine_of([doc("a", "read_file")])

    def write(path: Path, base: IndexBase, mark: str, key: bytes) -> None:
        write_index_pack(path, base, mark, key)
        engine.rebuild([doc("b", "read_file")], mark="new")

    monkeypatch.setattr("toolcrib.index.memory.engine.write_index_pack", write)
    engine.write_pack(tmp_path / "index.pack", KEY)
    assert list(lookup(engine)) == ["b"]
