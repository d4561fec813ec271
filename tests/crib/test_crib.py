import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.waiting import HANG_S
from tests.workshop import HIDDEN, HIDDEN_NAMES, SEEN, ListedSource
from toolcrib import Crib, Scope, Settings, tool
from toolcrib.crib import inventory_of
from toolcrib.errors import (
    AmbiguousName,
    ConfigError,
    DeclarationError,
    EmbedError,
    NameTaken,
    UnknownTool,
)
from toolcrib.execute import Caller
from toolcrib.index import Catalog, Document, MemoryEngine
from toolcrib.model import ToolInfo
from toolcrib.settings import EmbedSettings, ProfileSettings, SearchSettings
from toolcrib.sources.builtin_tools import builtin_tools
from toolcrib.text import words

DIMENSIONS = 64
MEANINGS = {"lorry": "truck", "drive": "steer"}


class WordHashes:
    """An embedder that knows a few synonyms: each word's meaning has a dimension."""

    model = "word-hashes"

    def __init__(self) -> None:
        self.failing = False
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.failing:
            raise EmbedError("nobody at home")
        self.asked += texts
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words(text):
                meaning = MEANINGS.get(word, word).encode()
                row[sha256(meaning).digest()[0] % DIMENSIONS] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return (rows / np.where(lengths, lengths, 1)).astype(np.float32)


def forecast(city: str) -> str:
    """Tell what the weather in a city is going to be."""
    return f"rain in {city}"


def steer_truck(direction: str) -> str:
    """Steer the truck."""
    return direction


def names(found: Sequence[object]) -> list[str]:
    return [getattr(each, "name", "") for each in found]


@pytest.fixture
def stored(tmp_path: Path) -> Settings:
    """Settings that keep the catalog in a file."""
    return Settings(store=str(tmp_path / "catalog.db"))


def of(settings: Settings, **changed: object) -> Settings:
    return settings.model_copy(update=changed)


# --- in five lines


def test_five_lines_are_enough(home: Path):
    crib = Crib()
    info = crib.add(forecast)
    found = crib.search("what will the weather be?")
    assert found[0].name == info.name == "forecast"
    assert crib.explain("weather", "forecast").summary == "returned at rank 1"
    assert not list(home.rglob("*"))


def test_a_new_crib_is_empty_and_says_so():
    crib = Crib()
    found = crib.search("weather")
    assert not found
    assert found.note.startswith("Nothing fits.")
    assert not crib.entries()


def test_what_is_said_of_a_function_counts():
    crib = Crib()

    @tool(tags=["umbrella"], permission_kind="read")
    def outlook() -> str:
        """Tell the outlook."""
        return ""

    crib.add(outlook, name="sky")
    [hit] = crib.search("umbrella")
    assert (hit.name, hit.permission_kind) == ("sky", "read")


def test_a_name_can_be_added_once():
    crib = Crib()
    crib.add(forecast)
    with pytest.raises(NameTaken, match="forecast"):
        crib.add(lambda: "sun", name="forecast")


def test_an_entry_is_got_by_its_name_or_bare_name():
    crib = Crib()
    crib.add_source(ListedSource(*SEEN))
    assert crib.get("list_channels").name == "mcp_slack_list_channels"
    with pytest.raises(AmbiguousName):
        crib.get("create_issue")
    with pytest.raises(UnknownTool, match="write_file"):
        crib.get("wriet_file")
    with pytest.raises(UnknownTool):
        crib.explain("weather", "nowhere")


# --- in step


def test_what_is_added_after_a_search_is_found_by_the_next():
    crib = Crib()
    crib.add_source(ListedSource(*SEEN))
    assert "forecast" not in names(crib.search("weather in a city"))
    crib.add(forecast)
    assert crib.search("weather in a city")[0].name == "forecast"
    assert "forecast" in crib.entries()


def test_what_changes_in_a_source_is_found_as_it_is_now():
    crib, source = Crib(), ListedSource(*SEEN)
    crib.add_source(source)
    crib.search("anything")
    source.listed = [*SEEN[1:], ToolInfo(name="bake", description="Bake a cake")]
    inventory_of(crib).pool.refresh(source)
    assert crib.search("cake")[0].name == "bake"
    assert "read_file" not in names(crib.search("read_file"))
    inventory_of(crib).pool.remove(source)
    assert not crib.search("cake")
    assert not crib.search("write_file")


def test_one_new_tool_touches_one_row_of_the_index(monkeypatch: pytest.MonkeyPatch):
    written: list[str] = []

    def change(engine: MemoryEngine, put: Iterable[Document], *others: object, **marks: object):
        documents = list(put)
        written.extend(each.id for each in documents)
        return whole_change(engine, documents, *others, **marks)

    whole_change: Callable[..., None] = MemoryEngine.change
    crib = Crib()
    crib.add_source(ListedSource(*SEEN))
    crib.search("read_file")
    monkeypatch.setattr(MemoryEngine, "change", change)
    monkeypatch.delattr(MemoryEngine, "rebuild")
    crib.add(forecast)
    assert crib.search("forecast")
    assert written == ["forecast"]


def test_one_new_tool_is_one_text_to_embed():
    embedder = WordHashes()
    crib = Crib(embedder=embedder)
    crib.add_source(ListedSource(*SEEN))
    crib.search("read_file")
    embedder.asked.clear()
    crib.add(forecast)
    crib.search("read_file")
    assert [text.partition("\n")[0] for text in embedder.asked] == ["forecast"]


def test_what_is_wrong_with_a_source_joins_the_problems():
    crib, broken = Crib(), ListedSource()
    broken.failure = "the first is broken"
    crib.add_source(broken)
    crib.add_source(ListedSource(*SEEN, problems=("one file is broken",)))
    assert crib.problems == ("the first is broken", "one file is broken")
    assert crib.search("write_file")


# --- who asks


def test_the_limit_and_the_kinds_are_the_caller_s():
    crib = Crib()
    crib.add_source(ListedSource(*SEEN))
    assert len(crib.search("file message list issue", limit=2)) == 2
    assert names(crib.search("fill a form by train", kinds=["skill"])) == ["skill_pdf-forms"]
    assert names(crib.search("fill a form by train", kinds=["agent"])) == ["agent_travel-planner"]


def test_each_caller_sees_what_is_for_it():
    crib = Crib()
    crib.add_source(ListedSource(*SEEN))
    reader = Scope(allowed=frozenset({"read_*"}))
    assert names(crib.search("write a file", scope=reader)) == ["read_file"]
    assert "write_file" in names(crib.search("write a file"))
    assert not crib.search("write a file", scope=Scope(allowed=frozenset()))
    assert crib.explain("write a file", "write_file", scope=reader).hidden == "no right"


def test_what_is_internal_is_so_for_every_caller():
    search = Settings().search.model_copy(update={"internal": ("write_*",)})
    crib = Crib(of(Settings(store=":memory:"), search=search))
    crib.add_source(ListedSource(*SEEN))
    anyone = Scope(internal=frozenset({"read_file"}))
    assert "write_file" not in names(crib.search("write a file"))
    assert not {"write_file", "read_file"} & set(names(crib.search("file", scope=anyone)))
    assert crib.explain("file", "write_file").hidden == "internal"


def test_what_is_hidden_is_hidden_from_searches_and_told_to_the_operator():
    crib = Crib()
    crib.add_source(ListedSource(*SEEN))
    crib.search("file")
    crib.add_source(ListedSource(*HIDDEN))
    assert not set(names(crib.search("erase shred tag file", limit=8))) & HIDDEN_NAMES
    assert crib.entries().keys() >= HIDDEN_NAMES
    assert crib.explain("erase", "erase_file").hidden == "not searchable"


def test_a_tool_that_is_disabled_from_now_on_is_found_no_more():
    source = ListedSource(ToolInfo(name="bake", description="Bake a cake"))
    crib = Crib()
    crib.add_source(source)
    assert crib.search("cake")
    source.listed = [ToolInfo(name="bake", description="Bake a cake", enabled=False)]
    inventory_of(crib).pool.refresh(source)
    assert not crib.search("cake")
    assert not crib.search("bake")
    assert not crib.search("select:bake")


def test_more_callers_than_are_remembered_each_see_their_own():
    crib = Crib()
    crib.add_source(ListedSource(*SEEN))
    for number in range(600):
        excluded = "read_file" if number % 2 else "write_file"
        scope = Scope(excluded=frozenset({excluded}), bound=frozenset({str(number)}))
        assert excluded not in names(crib.search("file", scope=scope))


# --- many at once


@pytest.mark.parametrize("index", ["memory", "sqlite"])
def test_many_may_add_and_search_at_once(index: str, stored: Settings):
    with Crib(of(stored, index=index)) as crib:
        crib.add_source(ListedSource(*SEEN))

        def add(number: int) -> None:
            crib.add(forecast, name=f"forecast_{number}")
            if number % 5 == 0:  # a rival for a name: what had it plain gets another
                rival = ToolInfo(name="write_file", description="Another", source_id=str(number))
                crib.add_source(ListedSource(rival))

        def ask(number: int) -> None:
            for text in ("write a file", "write_file", "", f"select:forecast_{number}", "/file/"):
                found = crib.search(text, scope=Scope(excluded=frozenset({f"read_{number}"})))
                assert len(found) <= 8
            crib.entries()

        with ThreadPoolExecutor(8) as threads:
            done = [threads.submit(work, number) for number in range(40) for work in (add, ask)]
        for each in done:
            each.result()
        assert len(crib.entries()) == len(SEEN) + 40 + 8
        for number in range(40):
            assert names(crib.search(f"forecast_{number}")) == [f"forecast_{number}"]


# --- with vectors


def test_an_embedder_finds_what_words_do_not():
    without, crib = Crib(), Crib(embedder=WordHashes())
    for each in (without, crib):
        each.add(steer_truck)
        each.add(forecast)
    assert not without.index.has_embedder
    assert crib.index.has_embedder
    assert not without.search("drive lorry")
    assert crib.search("drive lorry")[0].name == "steer_truck"
    ranks = crib.explain("drive lorry", "steer_truck").wordings[0].ranks
    assert ranks == {"like": None, "bm25": None, "vector": 1}
    assert "vector" not in without.explain("drive lorry", "steer_truck").wordings[0].ranks


@pytest.mark.parametrize("index", ["memory", "sqlite"])
def test_an_embedder_that_fails_costs_the_vectors_and_no_more(
    index: str, stored: Settings, caplog: pytest.LogCaptureFixture
):
    embedder = WordHashes()
    with Crib(of(stored, index=index), embedder=embedder) as crib:
        crib.add(steer_truck)
        crib.add(forecast)
        crib.search("weather")
        embedder.failing = True
        with caplog.at_level(logging.WARNING):
            assert crib.search("steer the truck")[0].name == "steer_truck"
            crib.add(lambda: None, name="brake_truck", description="Stop the truck")
            assert "brake_truck" in names(crib.search("stop the truck"))
        assert caplog.messages == ["searching by words alone: nobody at home"]
        assert crib.problems == tuple(caplog.messages)


def raising(_texts: Sequence[str]) -> object:
    raise RuntimeError("out of memory")


def interrupted(_texts: Sequence[str]) -> object:
    raise StopIteration


FAILURES: Mapping[str, Callable[[Sequence[str]], object]] = {
    "any exception": raising,
    "one without a message": interrupted,
    "too few rows": lambda texts: np.ones((len(texts) - 1, DIMENSIONS)),
    "too many rows": lambda texts: np.ones((len(texts) + 1, DIMENSIONS)),
    "one row for all": lambda _texts: np.ones(DIMENSIONS),
    "another width": lambda texts: np.ones((len(texts), DIMENSIONS + 1)),
    "rows of two widths": lambda texts: [[1.0] * (2 + n) for n in range(len(texts) + 1)],
    "no number": lambda texts: np.full((len(texts), DIMENSIONS), np.nan),
    "infinity": lambda texts: np.full((len(texts), DIMENSIONS), np.inf),
    "words": lambda texts: [["east"] * DIMENSIONS for _ in texts],
    "nothing": lambda _texts: None,
    "numbers of no width": lambda texts: np.ones((len(texts), 0)),
}


class Sometimes(WordHashes):
    """The same, but that it fails in a way of its own when it is told to."""

    def __init__(self, failure: Callable[[Sequence[str]], object]) -> None:
        super().__init__()
        self.failure = failure

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        said = self.failure(texts) if self.failing else super().embed(texts)
        return cast("NDArray[np.float32]", said)


@pytest.mark.parametrize("index", ["memory", "sqlite"])
@pytest.mark.parametrize("failure", FAILURES)
def test_whatever_an_embedder_of_your_own_does_search_goes_on(
    failure: str, index: str, stored: Settings
):
    embedder = Sometimes(FAILURES[failure])
    with Crib(of(stored, index=index), embedder=embedder) as crib:
        crib.add(steer_truck)
        crib.add(forecast)
        assert crib.search("drive lorry")[0].name == "steer_truck"
        embedder.failing = True
        assert crib.search("steer the truck")[0].name == "steer_truck"
        assert crib.search("the weather and the truck")
        crib.add(lambda: None, name="brake_truck", description="Stop the truck")
        assert "brake_truck" in names(crib.search("stop the truck"))
        [problem] = crib.problems
        assert problem.startswith("searching by words alone: ")
        embedder.failing = False
        assert crib.search("drive lorry again")[0].name == "steer_truck"


@pytest.mark.parametrize("failure", FAILURES)
def test_also_if_it_never_works(failure: str, stored: Settings):
    embedder = Sometimes(FAILURES[failure])
    embedder.failing = True
    with Crib(stored, embedder=embedder) as crib:
        crib.add(steer_truck)
        crib.add(forecast)
        assert crib.search("steer the truck")[0].name == "steer_truck"
        assert len(crib.problems) == (0 if failure == "another width" else 1)


@pytest.mark.parametrize("failure", FAILURES)
def test_also_if_it_fails_once_the_index_is_stored(failure: str, stored: Settings):
    stored = of(stored, index="sqlite")
    with Crib(stored, embedder=WordHashes()) as crib:
        crib.add_source(ListedSource(*SEEN))
        crib.index.store()
    embedder = Sometimes(FAILURES[failure])
    embedder.failing = True
    with Crib(stored, embedder=embedder) as crib:
        crib.add_source(ListedSource(*SEEN))
        assert crib.search("write_file")[0].name == "write_file"
        assert generation(crib)[0] == "SqliteView"
        crib.add(lambda: None, name="brake_truck", description="Stop the truck")
        assert crib.search("stop the truck")[0].name == "brake_truck"
        assert len(crib.problems) == 1


def test_an_embedder_that_comes_back_is_asked_again():
    embedder = WordHashes()
    embedder.failing = True
    crib = Crib(embedder=embedder)
    crib.add(steer_truck)
    crib.search("truck")
    embedder.failing = False
    crib.add(forecast)
    crib.add(lambda: None, name="brake_truck", description="Stop the truck")
    assert crib.search("drive lorry")[0].name == "steer_truck"


# --- on disk


def test_the_stored_index_serves_the_next_crib(stored: Settings):
    settings = of(stored, index="sqlite")
    with Crib(settings) as crib:
        crib.add_source(ListedSource(*SEEN))
        crib.index.store()
    with Crib(settings) as crib:
        crib.add_source(ListedSource(*SEEN))
        assert crib.search("write_file")[0].name == "write_file"


def test_progress_is_told(stored: Settings):
    rows: list[int] = []
    vectors: list[tuple[int, int]] = []
    with Crib(stored, embedder=WordHashes()) as crib:
        crib.add_source(ListedSource(*SEEN))
        crib.index.store(
            progress=rows.append, embedding=lambda done, every: vectors.append((done, every))
        )
    assert rows[-1] == len(SEEN)
    assert vectors[-1] == (len(SEEN), len(SEEN))


def generation(crib: Crib) -> tuple[str, int]:
    """Which engine a crib searches, and how often it was written to."""
    with crib._stages._live_index.catalog().view() as view:
        return type(view).__name__, view.generation


def test_auto_leaves_no_trace_until_an_index_is_stored(stored: Settings):
    with Crib(stored) as crib:
        crib.add(forecast)
        assert crib.search("weather")
        assert generation(crib)[0] == "Snapshot"
    assert not Path(stored.store).exists()


def test_auto_uses_the_stored_index_when_it_is_of_just_this_pool(stored: Settings):
    with Crib(stored) as crib:
        crib.add_source(ListedSource(*SEEN))
        crib.index.store()
    with Crib(stored) as crib:
        crib.add_source(ListedSource(*SEEN))
        assert crib.search("write_file")[0].name == "write_file"
        assert crib._stages._live_index.is_packed
        assert crib.index.is_stored()
    assert not Path(stored.store).exists()


def test_auto_falls_back_to_memory_when_the_pool_is_another(stored: Settings):
    with Crib(stored) as crib:
        crib.add_source(ListedSource(*SEEN))
        crib.index.store()
    with Crib(stored) as crib:
        crib.add_source(ListedSource(*SEEN))
        crib.add(forecast)
        assert not crib.index.is_stored()
        assert crib.search("weather in a city")[0].name == "forecast"
        assert crib.search("write_file")[0].name == "write_file"


def test_auto_falls_back_when_the_embedder_is_another(stored: Settings):
    with Crib(stored) as crib:
        crib.add(steer_truck)
        crib.index.store()
    with Crib(stored, embedder=WordHashes()) as crib:
        crib.add(steer_truck)
        assert crib.search("drive lorry")
        assert not crib._stages._live_index.is_packed


def test_another_who_stores_another_pool_meanwhile_does_no_harm(stored: Settings):
    settings = of(stored, index="sqlite")
    with Crib(settings) as ours, Crib(settings) as theirs:
        ours.add_source(ListedSource(*SEEN))
        assert ours.search("write_file")
        theirs.add(forecast)
        theirs.index.store()
        for text in ("weather", "forecast", "write_file", "", "/cast/"):
            assert "forecast" not in names(ours.search(text))


def test_vectors_are_kept_for_the_next_time(stored: Settings):
    with Crib(stored, embedder=WordHashes()) as crib:
        crib.add(steer_truck)
        crib.index.store()
    embedder = WordHashes()
    with Crib(stored, embedder=embedder) as crib:
        crib.add(steer_truck)
        assert crib.search("drive lorry")
    assert not [text for text in embedder.asked if "steer_truck" in text]


# --- from settings


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A tools.yaml, a skill and an agent, one of each broken beside them."""
    files = {
        "tools.yaml": "join_paths: {function: 'posixpath:normpath', permission_kind: read}\n",
        "broken.yaml": "nothing: {function: 'posixpath:no_such_name'}\n",
        "skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Fill forms\n---\nBy hand.\n",
        "skills/bad/SKILL.md": "---\nname: bad\n---\n",
        "agents/planner.md": "---\nname: planner\ndescription: Plan journeys\n---\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_settings_name_the_sources(folders: Path):
    settings = Settings(
        store=":memory:",
        plugins=False,
        builtin_tools=False,
        tools=(folders / "tools.yaml",),
        skills=(folders / "skills",),
        agents=(folders / "agents",),
    )
    crib = Crib.from_settings(settings)
    assert sorted(crib.entries()) == ["agent_planner", "join_paths", "skill_pdf"]
    assert crib.search("fill in forms")[0].name == "skill_pdf"
    [problem] = crib.problems
    assert str(folders / "skills/bad/SKILL.md") in problem


def test_what_the_settings_name_in_vain_is_a_problem_and_costs_no_other(folders: Path):
    settings = Settings(
        store=":memory:",
        plugins=False,
        builtin_tools=True,
        tools=(folders / "broken.yaml", folders / "not-there.yaml"),
        skills=(folders / "nowhere",),
        agents=(folders / "agents",),
    )
    crib = Crib.from_settings(settings)
    assert len(crib.problems) == 3
    for name in ("broken.yaml", "not-there.yaml", "nowhere"):
        assert any(str(folders / name) in problem for problem in crib.problems)
    assert {"read_file", "agent_planner"} <= set(crib.entries())


def test_the_tools_that_come_with_it_are_there_unless_they_are_switched_off():
    settings = Settings(store=":memory:", plugins=False)
    assert Crib.from_settings(settings).search("能不能帮我读文件")[0].name == "read_file"
    assert not Crib.from_settings(of(settings, builtin_tools=False)).entries()


def test_who_has_tools_of_their_own_does_not_find_those_that_come_with_it(folders: Path):
    quiet = Settings(store=":memory:", plugins=False)
    servers = folders / "servers.json"
    servers.write_text('{"mcpServers": {"time": {"command": "not-there"}}}')
    for own in ({"tools": (folders / "tools.yaml",)}, {"mcp_config": (servers,)}):
        with Crib.from_settings(of(quiet, **own)) as crib:
            assert "read_file" not in crib.entries()
        with Crib.from_settings(of(quiet, builtin_tools=True, **own)) as crib:
            assert "read_file" in crib.entries()
        profiles = {"files": ProfileSettings(builtin_tools=True)}
        wanted = quiet.gateway.model_copy(update={"profiles": profiles})
        with Crib.from_settings(of(quiet, gateway=wanted, **own)) as crib:
            assert "read_file" in crib.entries()
    servers.write_text("{")  # a file that is broken is no reason to bring others' tools in
    with Crib.from_settings(of(quiet, mcp_config=(servers,))) as crib:
        assert "read_file" not in crib.entries()


def test_several_functions_are_added_at_once_or_none_of_them():
    def one() -> int:
        """The first."""
        return 1

    def two() -> int:
        """The second."""
        return 2

    crib = Crib(Settings(store=":memory:"))
    added = crib.add(one, two, permission_kind="read", tags=["number"])
    assert [(each.name, each.permission_kind, each.tags) for each in added] == [
        ("one", "read", ("number",)),
        ("two", "read", ("number",)),
    ]
    three: Any = lambda: 3  # noqa: E731 - a third that has a name
    three.__name__ = "three"
    with pytest.raises(NameTaken, match="'two'"):
        crib.add(three, two)
    with pytest.raises(DeclarationError, match="name= is about one function"):
        crib.add(three, one, name="both")
    with pytest.raises(DeclarationError, match="not a function; pass functions one by one"):
        crib.add([one, two])  # type: ignore[call-overload]
    assert sorted(crib.entries()) == ["one", "two"]


def test_functions_are_labelled_by_their_module_and_old_patterns_still_mean_them():
    crib = Crib(Settings(store=":memory:"))
    crib.add(len_of, permission_kind="read")
    crib.add_source(builtin_tools())
    mine, ours = crib.get("len_of").capability, crib.get("read_file").capability
    assert (mine.owner, mine.owner_label, mine.source) == (__name__, __name__, "builtin")
    assert (ours.owner, ours.owner_label) == ("builtin", "builtin")
    assert crib.search("").namespaces.keys() == {__name__, "builtin"}
    for said in (f"{__name__}/*", "builtin/len_of", f"builtin:{__name__}/len_*", "len_of"):
        scope = Scope(allowed=frozenset({said}))
        assert {"len_of"} == {hit.name for hit in crib.search("select:len_of", scope=scope)}
    for source in (__name__, "builtin"):
        scope = Scope(sources=frozenset({source}))
        assert crib.search("select:len_of", scope=scope)
    theirs = Scope(sources=frozenset({__name__}))
    assert not crib.search("select:read_file", scope=theirs)


def test_a_function_takes_the_place_of_a_packaged_tool_of_its_name():
    for first in (True, False):
        crib = Crib(Settings(store=":memory:"))
        if first:
            crib.add_source(builtin_tools())
        crib.add(len_of, name="read_file", permission_kind="read")
        crib.entries()
        if not first:
            crib.add_source(builtin_tools())
        assert crib.get("read_file").capability.module == __name__


def len_of(text: str) -> int:
    """Tell how long a text is."""
    return len(text)


def test_settings_reach_the_search():
    search = Settings().search.model_copy(update={"limit": 1, "cut": "none", "schemas": 0})
    crib = Crib(of(Settings(store=":memory:"), search=search))
    crib.add_source(ListedSource(*SEEN))
    [hit] = crib.search("file")
    assert hit.schema is None


def test_a_chinese_question_finds_tools_that_are_described_in_english_alone():
    crib = Crib()
    crib.add_source(
        ListedSource(
            ToolInfo(name="send_mail", description="Send an email to a recipient"),
            ToolInfo(name="get_forecast", description="The weather forecast of a city"),
            ToolInfo(name="book_flight", description="Reserve a seat on a flight"),
        )
    )
    for asked in ("请帮我查询天气预报", "請幫我查詢天氣預報"):
        assert crib.search(asked)[0].name == "get_forecast"
        wordings = crib.explain(asked, "get_forecast").wordings
        assert [each.text for each in wordings if each.origin == "in English"] == [
            "query weather forecast"
        ]


def test_an_english_question_among_english_tools_is_not_translated():
    crib = Crib()
    crib.add_source(ListedSource(*SEEN))
    origins = {each.origin for each in crib.explain("write a file", "write_file").wordings}
    assert not any(origin.startswith("in ") for origin in origins)


def test_tools_that_come_in_another_language_are_noticed():
    crib = Crib()
    source = ListedSource(ToolInfo(name="a", description="查询天气预报"))
    crib.add_source(source)
    assert [hit.name for hit in crib.search("weather forecast")] == ["a"]
    source.listed = [ToolInfo(name="b", description="Get the weather")]
    inventory_of(crib).pool.refresh(source)
    assert [hit.name for hit in crib.search("天气")] == ["b"]


def test_a_glossary_of_one_s_own_counts(tmp_path: Path):
    mine = tmp_path / "mine.txt"
    mine.write_text("en | zh\nfrobnicate | 捣鼓", encoding="utf-8")
    settings = SearchSettings(glossaries=(mine,))
    crib = Crib(Settings(store=":memory:", search=settings))
    crib.add_source(ListedSource(ToolInfo(name="x", description="Frobnicate a gear")))
    assert [hit.name for hit in crib.search("捣鼓")] == ["x"]


def test_a_glossary_that_cannot_be_read_is_said_at_once(tmp_path: Path):
    settings = SearchSettings(glossaries=(tmp_path / "gone.txt",))
    with pytest.raises(ConfigError, match=r"gone\.txt"):
        Crib(Settings(store=":memory:", search=settings))


# --- the model that comes with it


def bundled(settings: Settings) -> Settings:
    return of(settings, embed=EmbedSettings(embedder="bundled"))


def test_words_answer_at_once_and_meaning_when_it_is_ready():
    with Crib(bundled(Settings(store=":memory:"))) as crib:
        crib.add(steer_truck)
        crib.add(forecast)
        assert crib.search("steer the truck")[0].name == "steer_truck"
        assert crib.index.embedded(HANG_S)
        assert crib.search("what is the meaning of life").confidence == "none"
        assert crib.search("会不会下雨")[0].name == "forecast"


def test_no_thread_outlives_the_crib(stored: Settings):
    with Crib(bundled(stored)) as crib:
        crib.add_source(ListedSource(*SEEN))
        crib.search("file")
    assert "toolcrib-vectors" not in [thread.name for thread in threading.enumerate()]


def test_what_was_embedded_once_is_there_at_the_next_start(stored: Settings):
    for _ in range(2):
        with Crib(bundled(stored)) as crib:
            crib.add(forecast)
            crib.search("weather")
            assert crib.index.embedded(HANG_S)
    with Crib(bundled(stored)) as crib:
        crib.add(forecast)
        assert crib.index.embedded(0)


def test_an_index_that_is_being_built_holds_up_nobody_else(monkeypatch: pytest.MonkeyPatch):
    building, go_on = threading.Event(), threading.Event()
    rebuild = Catalog.rebuild

    def slowly(self: Catalog, *args: Any, **options: Any) -> None:
        building.set()
        assert go_on.wait(HANG_S)
        rebuild(self, *args, **options)

    monkeypatch.setattr(Catalog, "rebuild", slowly)
    with Crib(Settings(store=":memory:", builtin_tools=False)) as crib:
        crib.add(forecast)
        search = threading.Thread(target=crib.search, args=("weather",))
        search.start()
        assert building.wait(HANG_S)
        crib.add(steer_truck)
        assert set(crib.entries()) == {"forecast", "steer_truck"}
        go_on.set()
        search.join(HANG_S)
        assert names(crib.search("weather")) == ["forecast"]
        assert names(crib.search("truck")) == ["steer_truck"]


def test_what_a_caller_may_see_is_named_and_remembered_until_it_changes():
    settings = Settings(store=":memory:", search=SearchSettings(internal=("write_file_backup",)))
    crib = Crib(settings)
    source = ListedSource(*SEEN, *HIDDEN)
    crib.add_source(source)
    caller = Caller("ann", Scope(allowed=frozenset({"*_file*"})))
    seen = inventory_of(crib).seen_by(caller)
    assert sorted(seen) == ["erase_file", "read_file", "write_file"]
    assert inventory_of(crib).seen_by(caller) is seen
    source.listed = SEEN[:1]
    inventory_of(crib).pool.refresh(source)
    assert list(inventory_of(crib).seen_by(caller)) == ["read_file"]


@pytest.mark.parametrize(
    ("environ", "deferring"),
    [
        ({}, True),
        ({"ENABLE_TOOL_SEARCH": "false"}, False),
        ({"ENABLE_TOOL_SEARCH": "false", "TOOLCRIB_TOOL_SEARCH": "on"}, True),
        ({"TOOLCRIB_TOOL_SEARCH": "off"}, False),
        ({"TOOLCRIB_SESSION__THRESHOLD": "1000"}, True),
    ],
)
def test_without_settings_the_environment_says_when_tools_wait(
    environ: dict[str, str], deferring: bool, monkeypatch: pytest.MonkeyPatch
):
    for variable in ("ENABLE_TOOL_SEARCH", "TOOLCRIB_TOOL_SEARCH"):
        monkeypatch.delenv(variable, raising=False)
    for variable, text in environ.items():
        monkeypatch.setenv(variable, text)
    crib = Crib()
    for number in range(40):
        crib.add(forecast, name=f"forecast_{number}")
    assert crib.session().deferring is deferring
    assert Crib(Settings(store=":memory:")).settings.tool_search == "on"
