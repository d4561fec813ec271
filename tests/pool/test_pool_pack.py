"""A pool with a pack is the pool without one: whatever happened before, between and after."""

import os
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pytest

from tests.pool.from_scratch import IDS, StampedTools, TellingTools, change_tools, some_source
from tests.pool.test_random_histories import Mirror, as_seen, check, functions
from tests.waiting import let_pass
from tests.workshop import ListedSource
from toolcrib.errors import UnknownTool
from toolcrib.model import Entry, EntryGroups, ToolInfo
from toolcrib.pool import FactMaker, Pool, PoolPack
from toolcrib.pool.pool_pack import KIND
from toolcrib.pool.stored_entry import StoredEntry
from toolcrib.store import Pack, PackDamaged

KEY = b"k" * 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.pool"


def servers(*ids: str, tools: int = 4) -> list[StampedTools]:
    found = [StampedTools(id) for id in ids]
    for source in found:
        for number in range(tools):
            source.put(f"tool_{number}", f"Tool {number} of {source.id}", tags=("x",), title="T")
    return found


def pool_of(sources: Sequence[Any], path: Path | None = None) -> Pool:
    """A pool of these sources, with the pack if there is one."""
    pool = Pool()
    if path and (pack := PoolPack.open(path, KEY)):
        pool.adopt(pack)
    assert pool.add(*sources) == ()
    return pool


def write(pool: Pool, path: Path) -> None:
    plan = pool.pack_plan()
    plan.write(path, KEY)
    pack = PoolPack.open(path, KEY)
    assert pack
    pool.go_over(pack, plan)


def next_day(sources: Sequence[Any]) -> list[Any]:
    """The same sources as another process finds them."""
    return [s.copied() if isinstance(s, StampedTools) else ListedSource(*s.listed) for s in sources]


def stored_names(pool: Pool) -> set[str]:
    return {name for name, entry in pool.entries.items() if isinstance(entry, StoredEntry)}


def test_sources_with_the_same_stamp_are_not_listed(path: Path):
    first = servers("a", "b")
    write(pool_of(first), path)
    again = next_day(first)
    pool = pool_of(again, path)
    check(pool, again)
    assert [source.adopted for source in again] == [{"tools": 4}, {"tools": 4}]
    assert stored_names(pool) == set(pool.entries)
    again[0].listed = again[1].listed = 0
    assert [entry.description for entry in pool.entries.values()]
    tool = pool.resolve("mcp_a_tool_1").capability
    assert isinstance(tool, ToolInfo)
    assert tool.parameters
    assert pool.refresh(again[0]) == pool.refresh(again[1])
    assert (again[0].listed, again[1].listed) == (0, 0)


def test_whoever_changed_is_listed_and_the_others_are_not(path: Path):
    first = servers("a", "b", "c")
    write(pool_of(first), path)
    again = next_day(first)
    again[1].put("tool_1", "Another one")
    pool = pool_of(again, path)
    assert [source.listed for source in again] == [0, 1, 0]
    check(pool, again)
    assert pool.entries["mcp_b_tool_0"].capability.description == "Tool 0 of b"


def test_light_properties_are_those_of_the_definition(path: Path):
    [source] = first = servers("a")
    source.put("odd", "x", required=True, defer="always", permission_kind="read", searchable=False)
    source.put("load", "y", meta={"anthropic/alwaysLoad": True}, named_by="operator")
    source.put("links", "z", often_with=("odd",), category="c", packaged=True, title="\ud800")
    source.put("said", "w", desc={"de": "Sagt etwas"}, parameters={"type": "object"})
    pool = pool_of(first)
    before = dict(pool.entries)
    plain = {
        name: Entry(name, e.bare, e.capability, e.state, e.remedy) for name, e in before.items()
    }
    write(pool, path)
    light = [n for n, each in vars(Entry).items() if isinstance(each, property) and n != "content"]
    assert stored_names(pool) == set(before)
    for name, entry in pool.entries.items():
        for each in light:
            if not each.startswith("_"):
                assert getattr(entry, each) == getattr(plain[name], each), (name, each)
        assert entry == before[name] == plain[name]


def test_going_over_to_the_file_changes_nothing_but_where_definitions_lie(path: Path):
    sources: list[Any] = [
        *servers("a", "a_tool", "b"),
        ListedSource(ToolInfo(name="f", description="F")),
    ]
    pool = pool_of(sources)
    before, seen, fingerprint, mirror = pool.entries, as_seen(pool), pool.fingerprint, Mirror(pool)
    write(pool, path)
    assert as_seen(pool) == seen
    assert dict(before) == dict(pool.entries)
    assert pool.fingerprint == fingerprint
    assert pool.entries.changed_since(before) == frozenset()
    assert not mirror.known
    assert pool.fits_pack()
    assert "mcp_b_tool_0" in stored_names(pool)
    assert "f" not in stored_names(pool)


def step(pool: Pool, sources: list[Any], chance: Random, path: Path) -> None:
    """One thing that may happen to a pool, told to it as whoever is around it does."""
    old = chance.choice(sources) if sources else None
    match chance.randrange(6):
        case 0:
            new = some_source(chance, ["mcp", "sdk"])
            for _ in range(chance.choice([1, 12])):
                change_tools(new, chance)
            pool.add(new)
            sources.append(new)
        case 1 if old:
            sources.remove(old)
            pool.remove(old)
        case 2:
            write(pool, path)
        case 3 if old:
            [new] = next_day([old])
            sources.remove(old)
            sources.append(new)
            pool.add(new, instead_of=[old])
        case _:
            for source in chance.sample(sources, min(2, len(sources))):
                if isinstance(source, StampedTools):
                    change_tools(source, chance)
                    pool.refresh(source)


@pytest.mark.parametrize("seed", range(16))
def test_any_history_with_packs_comes_to_what_the_sources_are(seed: int, path: Path):
    chance = Random(seed)
    sources: list[Any] = [
        *servers(*chance.sample(IDS, 4), tools=chance.choice([2, 6])),
        functions(chance, packaged=False),
    ]
    for _ in range(6):
        pool = pool_of(sources, path)
        mirror = Mirror(pool)
        mirror.known = dict(pool.entries)
        reserved = chance.sample(IDS, chance.randrange(2))
        pool.reserve("mcp", reserved)
        for _ in range(8):
            step(pool, sources, chance, path)
            pool.add()
            check(pool, sources, reserved)
            assert dict(pool.entries) == mirror.known
        sources = next_day(sources)
        for source in chance.sample(sources, min(1, len(sources))):
            if isinstance(source, StampedTools):
                change_tools(source, chance)


@pytest.mark.parametrize("how", ["key", "bytes", "cut", "kind"])
def test_a_foreign_or_damaged_file_is_set_aside(path: Path, how: str):
    first = servers("a", "b")
    write(pool_of(first), path)
    content = path.read_bytes()
    at = content.index(b"mcp_a_tool_1")
    bad = {"bytes": content[:at] + b"X" + content[at + 1 :], "cut": content[:-9]}
    path.write_bytes(bad.get(how, content))
    key = b"x" * 32 if how == "key" else KEY
    if how == "kind":
        with pytest.raises(PackDamaged):
            Pack.open(path, f"not {KIND}", KEY)
        return
    assert PoolPack.open(path, key) is None
    assert not path.exists()
    assert path.with_name(f"{path.name}.bad").exists()


def scratched(path: Path, text: bytes) -> None:
    """Alter a definition in the file as it lies there, mapped or not."""
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(content.index(text))
        file.write(b"Evil")


@pytest.mark.parametrize("what", [b"Tool 1 of a", b'{"tool_1":{"type"'])
def test_an_altered_definition_is_never_shown_and_the_sources_are_listed_again(
    path: Path, what: bytes
):
    first = servers("a", "b")
    write(pool_of(first), path)
    again = next_day(first)
    pool = pool_of(again, path)
    scratched(path, what)
    entry = pool.entries["mcp_a_tool_1"]
    assert entry.capability == dict(pool_of(next_day(first)).entries)["mcp_a_tool_1"].capability
    assert entry.description == "Tool 1 of a"
    assert pool.is_damaged
    assert not path.exists()
    pool.leave_pack()
    assert not pool.is_damaged
    assert not stored_names(pool)
    check(pool, again)
    write(pool, path)
    check(pool, again)
    assert stored_names(pool)


def test_an_altered_definition_that_its_source_has_no_more_is_unknown(path: Path):
    first = servers("a")
    write(pool_of(first), path)
    again = next_day(first)
    pool = pool_of(again, path)
    scratched(path, b"Tool 1 of a")
    again[0].put("tool_1", "Another one meanwhile")
    with pytest.raises(UnknownTool, match="search"):
        _ = pool.entries["mcp_a_tool_1"].capability


def test_another_process_replaces_the_file_and_the_old_one_stays_readable(path: Path):
    first = servers("a", "b")
    write(pool_of(first), path)
    again = next_day(first)
    pool = pool_of(again, path)
    write(pool_of(servers("other")), path)
    check(pool, again)
    path.unlink()
    assert pool.entries["mcp_b_tool_2"].capability.description == "Tool 2 of b"
    check(pool, again)


def test_a_good_new_file_is_not_set_aside_for_an_old_damaged_one(path: Path):
    first = servers("a")
    write(pool_of(first), path)
    pool = pool_of(next_day(first), path)
    os.link(path, path.with_name("old"))
    write(pool_of(servers("other")), path)
    scratched(path.with_name("old"), b"Tool 1 of a")
    assert pool.entries["mcp_a_tool_1"].description == "Tool 1 of a"
    assert pool.is_damaged
    assert path.exists()


def test_whoever_holds_entries_sees_one_moment_of_the_pack(path: Path):
    first = servers("a", "b")
    write(pool_of(first), path)
    again = next_day(first)
    pool = pool_of(again, path)
    held, seen = pool.entries, dict(pool.entries)
    again[0].at_source = "ready"
    news = pool.refresh(again[0])
    assert {entry.state for entry in news.changed} == {"ready"}
    assert pool.entries.changed_since(held) == {f"mcp_a_tool_{n}" for n in range(4)}
    pool.remove(again[1])
    assert dict(held) == seen
    assert {entry.state for entry in held.values()} == {"asleep"}
    assert len(held) == 8
    assert len(pool.entries) == 4


def test_definitions_that_are_remembered_are_few(path: Path):
    first = servers("a", tools=700)
    write(pool_of(first), path)
    pool = pool_of(next_day(first), path)
    entry = pool.entries["mcp_a_tool_1"]
    assert entry.capability is entry.capability
    assert len([each.capability for each in pool.entries.values()]) == 700
    assert pool.pack
    assert pool.pack._definition.cache_info().currsize <= 512


def test_groups_are_those_of_a_walk(path: Path):
    first: list[Any] = [*servers("a", "b", "c"), ListedSource(ToolInfo(name="f", description="F"))]
    first[0].put("read", "r", permission_kind="read", named_by="operator")
    first[0].held["tool_1"] = "changed"
    first[1].put("read", "r", enabled=False, defer="always", required=True, searchable=False)
    write(pool_of(first), path)
    again = next_day(first)
    again[1].at_source = "needs_login"
    again[2].put("tool_1", "Another one")
    pool = pool_of(again, path)
    groups, walked = pool.entries.groups(), EntryGroups.of(dict(pool.entries))
    assert {traits: set(names) for traits, names in groups.items()} == dict(walked)
    for traits, names in groups.items():
        assert len(names) == len(walked[traits])
        assert all((name in names) == (name in walked[traits]) for name in (*pool.entries, "no"))


def test_facts_are_made_once_and_read_as_long_as_their_version_is_the_same(path: Path):
    made: list[str] = []

    def make(entry: Entry) -> str:
        made.append(entry.name)
        return f"about {entry.bare[-1]}"

    first = servers("a", "b")
    pool_of(first).pack_plan().write(path, KEY, FactMaker("1", make))
    again = next_day(first)
    pool = pool_of(again, path)
    again[0].put("tool_1", "Another one")
    pool.refresh(again[0])
    stored = pool.entries.stored.facts("1")
    assert pool.entries.stored.facts("2") is None
    assert stored
    left = {f"about {n}": {f"mcp_{id}_tool_{n}" for id in "ab"} for n in range(4)}
    left["about 1"].remove("mcp_a_tool_1")
    assert {text: set(names) for text, names in stored.names.items()} == left
    assert stored.text_of("mcp_b_tool_2") == "about 2"
    made.clear()
    pool.pack_plan().write(path, KEY, FactMaker("1", make))
    assert made == ["mcp_a_tool_1"]


def test_readers_always_find_the_right_source_while_rows_move_to_and_from_the_file(path: Path):
    sources = servers("a", "b", "c", tools=30)
    pool, rival, done = pool_of(sources), ListedSource(), Event()

    def read() -> int:
        count = 0
        while not done.is_set():
            for source in sources:
                name = f"mcp_{source.id}_tool_7"
                assert pool.source_of(name) is source
                assert pool.entries[name].capability.source_id == source.id
                count += 1
        return count

    with ThreadPoolExecutor(3) as threads:
        readers = [threads.submit(read) for _ in range(3)]
        try:
            for number in range(40):
                write(pool, path)
                rival.listed = (ToolInfo(name=f"mcp_{'abc'[number % 3]}_tool_8", description=""),)
                pool.add(rival)
                pool.remove(rival)
        finally:
            done.set()
        assert all(reader.result() for reader in readers)
    check(pool, sources)


@pytest.mark.parametrize("patience_s", [0.0, 0.002, 0.005, 0.01, 0.02, 0.05])
def test_a_writer_that_is_killed_leaves_a_whole_file(path: Path, patience_s: float):
    first = servers("a", "b", tools=300)
    plan = pool_of(first).pack_plan()
    plan.write(path, KEY)
    child = os.fork()
    if not child:
        try:
            while True:
                plan.write(path, KEY)
        finally:
            os._exit(1)
    let_pass(patience_s)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    again = next_day(first)
    pool = pool_of(again, path)
    assert [source.listed for source in again] == [0, 0]
    check(pool, again)


def test_a_damaged_row_is_not_written_again(path: Path):
    first = servers("a", "b")
    write(pool_of(first), path)
    again = next_day(first)
    pool = pool_of(again, path)
    scratched(path, b"Tool 1 of a")
    with pytest.raises(PackDamaged):
        pool.pack_plan().write(path, KEY)
    assert pool.is_damaged
    assert not path.exists()
    pool.leave_pack()
    write(pool, path)
    check(pool, again)


@pytest.mark.parametrize("others", [0, 20])
def test_a_rival_that_was_there_before_the_pack_is_a_rival(path: Path, others: int):
    first = servers("a", "b")
    write(pool_of(first), path)
    rivals = [f"other_{n}" for n in range(others)]
    rival = ListedSource(*(ToolInfo(name=n, description="") for n in ("mcp_a_tool_1", *rivals)))
    again, pool = next_day(first), Pool()
    pack = PoolPack.open(path, KEY)
    assert pack
    pool.adopt(pack)
    pool.add(rival)
    pool.add(*again)
    check(pool, [rival, *again])
    assert "mcp_a_tool_1" not in pool.entries
    assert "mcp_b_tool_1" in stored_names(pool)


def test_a_source_that_tells_what_changed_is_asked_for_nothing_else(path: Path):
    source = TellingTools("a")
    for number in range(30):
        source.put(f"tool_{number}", f"Tool {number}")
    source.revision()
    write(pool_of([source]), path)
    again = source.copied()
    pool = pool_of([again], path)
    held = pool.entries
    del again.tools["tool_3"]
    again.put("tool_4", "Another one")
    again.put("new", "New")
    pool.refresh(again)
    assert again.listed == 0
    changed = {"mcp_a_tool_3", "mcp_a_tool_4", "mcp_a_new"}
    assert pool.entries.changed_since(held) == changed
    assert set(pool.entries) - stored_names(pool) == changed & set(pool.entries)
    check(pool, [again])
    write(pool, path)
    assert stored_names(pool) == set(pool.entries)
    check(pool, [again])


def test_a_rival_for_one_name_changes_no_other_entry_of_its_server(path: Path):
    first = servers("a", tools=6)
    write(pool_of(first), path)
    again: list[Any] = next_day(first)
    pool = pool_of(again, path)
    held = pool.entries
    pool.add(rival := ListedSource(ToolInfo(name="mcp_a_tool_1", description="")))
    named = {n for n in pool.entries if n.startswith("mcp_a_tool_1")}
    assert pool.entries.changed_since(held) == {"mcp_a_tool_1", *named}
    assert len(named) == 2
    check(pool, [*again, rival])
