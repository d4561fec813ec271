"""What `index/protocol.py` promises, held by every engine."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Thread
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.catalogs import CHINESE, NOUNS, VERBS, catalog, unit, variant
from tests.waiting import let_pass
from toolcrib.index import Arm, Document, MemoryEngine, SqliteEngine, Superseded, View
from toolcrib.index.protocol import Engine
from toolcrib.model import NameFilter, Ranking, Variant
from toolcrib.store import SqliteStore

ENGINES = ("memory", "sqlite in memory", "sqlite in a file")
ARMS: tuple[Arm, ...] = ("like", "bm25", "vector")
EAST, NORTH, NORTH_EAST = (1.0, 0.0), (0.0, 1.0), (0.8, 0.6)
READ_FILE = variant("read_file", EAST)
HALF = 1e-3
"""One engine keeps vectors in half as many bits as the other."""


@contextmanager
def opened(kind: str, folder: Path | None = None) -> Generator[Engine]:
    if kind == "memory":
        yield MemoryEngine()
        return
    with SqliteStore.open(folder / "catalog.db" if folder else ":memory:") as store:
        yield SqliteEngine(store)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    with opened(request.param, tmp_path if request.param.endswith("file") else None) as engine:
        yield engine


def doc(id: str, name: str, text: str = "", vector: tuple[float, ...] | None = None) -> Document:
    some = variant(name)
    return Document(
        id=id,
        names=(name.replace("_", ""),),
        labels=(some.words,),
        fields=(some.terms, (), variant(text).terms if text else (), ()),
        text=text,
        vector=None if vector is None else np.array(vector, dtype=np.float32),
    )


def lookup(engine: Engine, arm: Arm, query: Variant, limit: int | None = None) -> Ranking:
    with engine.view() as view:
        return view.arms[arm].lookup(query, limit=limit)


def ids(ranking: Ranking) -> list[str]:
    return [match.id for match in ranking]


FILES = (
    doc("b", "read_file", vector=EAST),
    doc("a", "read_file", vector=EAST),
    doc("c", "read_files", "read a file", vector=NORTH_EAST),
    doc("d", "send_message", "tell someone about a file", vector=NORTH),
    doc("e", "draw_map", "a map of the world", vector=(-1.0, 0.0)),
)


def test_a_new_engine_is_empty(engine: Engine):
    with engine.view() as view:
        assert list(view.arms) == ["like", "bm25"]
        assert not view.ids()
        assert not view.named("readfile")
        assert not view.arms["like"].lookup(READ_FILE)
        assert not view.arms["bm25"].lookup(READ_FILE)


@pytest.mark.parametrize("arm", ARMS)
def test_the_best_come_first_and_ties_go_by_id(engine: Engine, arm: Arm):
    engine.rebuild(FILES)
    ranking = lookup(engine, arm, READ_FILE)
    assert ids(ranking)[:3] == ["a", "b", "c"]
    assert ranking == sorted(ranking, key=lambda match: (-match.score, match.id))
    assert all(match.score > 0 for match in ranking)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("limit", [0, 1, 2, 3, 99])
def test_a_limit_takes_the_first_of_the_ranking(engine: Engine, arm: Arm, limit: int):
    engine.rebuild(FILES)
    assert lookup(engine, arm, READ_FILE, limit) == lookup(engine, arm, READ_FILE)[:limit]


@pytest.mark.parametrize("arm", ARMS)
def test_excluded_ids_take_no_place(engine: Engine, arm: Arm):
    engine.rebuild(FILES)
    everything = lookup(engine, arm, READ_FILE)
    less = NameFilter.without(["a", "unheard of"])
    with engine.view() as view:
        ranking = view.arms[arm].lookup(READ_FILE, limit=2, exclude=less)
    assert ranking == [match for match in everything if match.id != "a"][:2]


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("left", [(), ("b",), ("c", "a", "unheard of")])
def test_all_but_a_few_ids_may_be_excluded(engine: Engine, arm: Arm, left: tuple[str, ...]):
    engine.rebuild(FILES)
    everything = lookup(engine, arm, READ_FILE)
    with engine.view() as view:
        ranking = view.arms[arm].lookup(READ_FILE, exclude=NameFilter.only(left))
    assert ranking == [match for match in everything if match.id in left]


@pytest.mark.parametrize("arm", ARMS)
def test_a_filter_holds_for_what_is_put_and_removed_after_it(engine: Engine, arm: Arm):
    engine.rebuild(FILES)
    only = NameFilter.only(["b", "c"])
    with engine.view() as view:
        assert ids(view.arms[arm].lookup(READ_FILE, exclude=only)) == ["b", "c"]
    [first] = [each for each in FILES if each.id == "a"]
    engine.change(put=[replace(first, id="a2")], remove=["b"])
    with engine.view() as view:
        assert ids(view.arms[arm].lookup(READ_FILE, exclude=only)) == ["c"]


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize(
    "query", [Variant(""), Variant("", words=("zzzz",), terms=("zzzz",), vector=(-0.0, -1.0))]
)
def test_no_match_is_an_empty_sequence(engine: Engine, arm: Arm, query: Variant):
    engine.rebuild(FILES)
    assert list(lookup(engine, arm, query)) == []


@pytest.mark.parametrize("arm", ["like", "bm25"])
@pytest.mark.parametrize(
    "word",
    ['"', "'", "a OR b", "name:x", "*", "\0", "read\0file", "\ud800", "x" * 10_000, "😀", ""],
)
def test_no_word_is_syntax(engine: Engine, arm: Arm, word: str):
    engine.rebuild(FILES)
    query = Variant(word, words=("read", word, "file"), terms=("read", word, "file"))
    assert "a" in ids(lookup(engine, arm, query)) or arm == "like"
    assert not ids(lookup(engine, arm, Variant(word, words=(word,), terms=(word,))))
    with engine.view() as view:
        assert not view.named(word)
        assert len(view.arms[arm].lookup(READ_FILE, exclude=NameFilter.without([word]))) > 1


@pytest.mark.parametrize("arm", ["like", "bm25"])
def test_a_word_said_twice_counts_once(engine: Engine, arm: Arm):
    engine.rebuild(FILES)
    twice = Variant("", words=READ_FILE.words * 2, terms=READ_FILE.terms * 2)
    assert lookup(engine, arm, twice) == lookup(engine, arm, READ_FILE)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("read file", ["a", "b", "c"]),
        ("reed file", ["a", "b"]),  # a typo
        ("send messag", ["d"]),  # a part of a word
        ("how do I read a file that someone sent me yesterday", []),  # no name is like this
    ],
)
def test_like_speaks_when_a_query_looks_like_a_name(engine: Engine, query: str, found: list[str]):
    engine.rebuild(FILES)
    assert ids(lookup(engine, "like", variant(query))) == found


def test_vectors_come_and_go_with_their_documents(engine: Engine):
    engine.rebuild([doc("a", "read_file"), doc("b", "read_file", vector=EAST)])
    assert ids(lookup(engine, "vector", READ_FILE)) == ["b"]
    assert not lookup(engine, "vector", variant("read_file"))
    engine.change(remove=["b"])
    with engine.view() as view:
        assert list(view.arms) == ["like", "bm25"]
    engine.change([doc("a", "read_file", vector=(0.0, 0.0, 1.0))])
    with engine.view() as view:
        assert list(view.arms) == list(ARMS)


def test_vectors_have_one_size(engine: Engine):
    engine.rebuild(FILES)
    with pytest.raises(ValueError, match=r"size|shape|numbers"):
        engine.change([doc("f", "read_file", vector=(0.0, 0.0, 1.0))])
    with engine.view() as view:
        assert view.ids() == ["a", "b", "c", "d", "e"]


def test_names_are_found_by_their_folded_spelling(engine: Engine):
    engine.rebuild(FILES)
    with engine.view() as view:
        assert list(view.named("readfile")) == ["a", "b"]
        assert list(view.named("read_file")) == []
    engine.change([doc("b", "write_file")], ["a"])
    with engine.view() as view:
        assert list(view.named("readfile")) == []
        assert list(view.named("writefile")) == ["b"]


def test_words_are_corrected_by_those_of_the_current_generation(engine: Engine):
    def corrected(text: str) -> str:
        with engine.view() as view:
            return view.speller().correct(text).text

    assert corrected("find qwexxer") == "find qwexxer"
    engine.change([doc("q", "find_qwexer")])
    assert corrected("find qwexxer") == corrected("find qwexer") == "find qwexer"
    engine.change(remove=["q"])
    assert corrected("find qwexxer") == "find qwexxer"


def test_of_two_documents_with_one_id_the_later_counts(engine: Engine):
    twice = [doc("a", "draw_map"), doc("b", "read_file"), doc("a", "read_file")]
    engine.rebuild(twice)
    with engine.view() as view:
        assert view.ids() == ["a", "b"]
        assert ids(view.arms["bm25"].lookup(READ_FILE)) == ["a", "b"]
        assert not view.named("drawmap")
    engine.change([doc("a", "read_file"), doc("a", "draw_map")])
    assert ids(lookup(engine, "like", READ_FILE)) == ["b"]


def test_a_change_says_what_it_changes(engine: Engine):
    engine.rebuild([doc("a", "read_file")], mark="ours")
    engine.change([doc("b", "write_file")], mark="ours, changed", base="ours")
    with pytest.raises(Superseded):
        engine.change([doc("c", "draw_map")], mark="theirs, changed", base="theirs")
    with engine.view() as view:
        assert (view.ids(), view.mark) == (["a", "b"], "ours, changed")


def test_a_rebuild_says_how_many_are_done(engine: Engine):
    said: list[int] = []
    engine.rebuild(FILES, progress=said.append)
    assert said == sorted(said)
    assert said[-1] == len(FILES)


def test_a_rebuild_that_raises_leaves_the_old_generation(engine: Engine):
    def failing() -> Iterator[Document]:
        yield doc("new", "read_file")
        raise KeyError

    engine.rebuild(FILES)
    before = everything(engine)
    with pytest.raises(KeyError):
        engine.rebuild(failing())
    assert everything(engine) == before


def test_a_rebuild_may_be_stopped_by_whoever_hears_of_it(engine: Engine):
    def stop(_done: int) -> None:
        raise KeyboardInterrupt

    engine.rebuild(FILES)
    before = everything(engine)
    with pytest.raises(KeyboardInterrupt):
        engine.rebuild([doc("new", "read_file")], progress=stop)
    assert everything(engine) == before


def test_what_is_both_put_and_removed_is_there(engine: Engine):
    engine.change([doc("a", "read_file")], ["a", "never there"])
    with engine.view() as view:
        assert view.ids() == ["a"]


def test_every_write_makes_a_later_generation(engine: Engine):
    writes: tuple[Callable[[], None], ...] = (
        lambda: engine.rebuild(FILES),
        lambda: engine.change(FILES[:1]),
        lambda: engine.change(remove=["b"]),
        lambda: engine.rebuild(()),
    )
    seen = [generation(engine)]
    for write in writes:
        write()
        seen.append(generation(engine))
    assert seen == sorted(set(seen))


def test_a_mark_is_that_of_the_last_write(engine: Engine):
    assert engine.mark() == ""
    engine.rebuild(FILES, mark="one")
    assert engine.mark() == "one"
    engine.change(remove=["a"], mark="two")
    assert engine.mark() == "two"
    engine.change(remove=["b"])
    assert engine.mark() == ""


@pytest.mark.parametrize("write", ["rebuild", "change"])
def test_a_view_stays_as_it_is_while_it_is_held(engine: Engine, write: str):
    """In one memory shared by all, the writer waits; everywhere else it does not have to."""
    engine.rebuild(FILES)
    new = [doc("new", "read_file", vector=EAST)]
    writing = Thread(
        target=lambda: engine.rebuild(new) if write == "rebuild" else engine.change(new, ["a"])
    )
    with engine.view() as view:
        before = seen_in(view)
        writing.start()
        let_pass()
        assert seen_in(view) == before
    writing.join()
    assert everything(engine) != before
    assert "new" in everything(engine)["ids"]


@pytest.mark.parametrize("kind", ["memory", "sqlite in a file"])
def test_a_writer_waits_for_no_reader(kind: str, tmp_path: Path):
    with opened(kind, tmp_path) as engine, engine.view() as view:
        engine.rebuild(FILES)
        engine.change(remove=["a"])
        assert not view.ids()
        assert everything(engine)["ids"] == ["b", "c", "d", "e"]


def generation(engine: Engine) -> int:
    with engine.view() as view:
        return view.generation


def seen_in(view: View) -> Mapping[str, object]:
    return {
        "generation": view.generation,
        "ids": list(view.ids()),
        "named": list(view.named("readfile")),
        **{arm: list(index.lookup(READ_FILE)) for arm, index in view.arms.items()},
    }


def everything(engine: Engine) -> dict[str, list[object]]:
    with engine.view() as view:
        return cast("dict[str, list[object]]", seen_in(view))


WORDS = st.sampled_from("read reads write file files filesystem 读取 文件".split())
DOCUMENTS = st.builds(
    lambda id, name, text, vector: doc(id, "_".join(name), " ".join(text), vector),
    st.sampled_from("abcdef"),
    st.lists(WORDS, min_size=1, max_size=3),
    st.lists(WORDS, max_size=6),
    st.sampled_from([None, EAST, NORTH, NORTH_EAST]),
)
CHANGES = st.lists(
    st.tuples(st.lists(DOCUMENTS, max_size=3), st.lists(st.sampled_from("abcdef"), max_size=2)),
    max_size=5,
)
QUESTIONS = [variant(text, NORTH_EAST) for text in ("read files", "flie", "读取文件", "file")]


@pytest.mark.parametrize("kind", ["memory", "sqlite in memory"])
@settings(deadline=None, max_examples=60)
@given(first=st.lists(DOCUMENTS, max_size=6), changes=CHANGES)
def test_changes_leave_what_a_rebuild_would(
    kind: str, first: list[Document], changes: list[tuple[list[Document], list[str]]]
):
    left = {each.id: each for each in first}
    with opened(kind) as engine, opened(kind) as fresh:
        engine.rebuild(first)
        for put, remove in changes:
            engine.change(put, remove)
            left = {id: each for id, each in left.items() if id not in remove}
            left |= {each.id: each for each in put}
        fresh.rebuild(left.values())
        assert_agree(engine, fresh, QUESTIONS)


def test_the_engines_agree():
    """English and Chinese, names and questions, typos and parts; also after changes."""
    chance = Random(7)
    documents = catalog(400, seed=7)
    with opened("memory") as memory, opened("sqlite in memory") as sqlite:
        for engine in (memory, sqlite):
            engine.rebuild(documents)
        assert_agree(memory, sqlite, questions(chance))
        for engine in (memory, sqlite):
            engine.change(catalog(60, seed=8), [f"{number:04}" for number in range(50, 120)])
        assert_agree(memory, sqlite, questions(chance))


def questions(chance: Random) -> list[Variant]:
    names = [f"{chance.choice(VERBS)}_{chance.choice(NOUNS)}" for _ in range(40)]
    misspelt = [name[:at] + name[at + 1 :] for name in names if (at := chance.randrange(len(name)))]
    parts = [word[:4] for word in NOUNS]
    chinese = ["".join(chance.choices(CHINESE, k=2)) for _ in range(20)]
    asked = [" ".join(chance.choices(VERBS + NOUNS + CHINESE, k=9)) for _ in range(40)]
    texts = [*names, *misspelt, *parts, *chinese, *asked]
    return [variant(text, unit(chance, 8).tolist()) for text in texts]


def assert_agree(one: Engine, other: Engine, queries: list[Variant]) -> None:
    with one.view() as left, other.view() as right:
        assert list(left.ids()) == list(right.ids())
        assert list(left.arms) == list(right.arms)
        for query in queries:
            for arm in left.arms:
                within = HALF if arm == "vector" else 1e-6
                assert_same(left.arms[arm].lookup(query), right.arms[arm].lookup(query), within)


def assert_same(one: Ranking, other: Ranking, within: float) -> None:
    """The same ids with the same scores, so that the order can differ within a tie only."""
    left, right = ({m.id: m.score for m in ranking} for ranking in (one, other))
    for id in left.keys() | right.keys():  # what is nearly nothing may be nothing
        assert left.get(id, 0.0) == pytest.approx(right.get(id, 0.0), rel=1e-6, abs=within)
    for ranking in (one, other):
        assert list(ranking) == sorted(ranking, key=lambda match: (-match.score, match.id))
