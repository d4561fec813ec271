"""A search of a pool that lies in a file reads the definitions of its hits, and no others."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.pool.from_scratch import StampedTools
from toolcrib.access import Scope
from toolcrib.crib import Crib, inventory_of
from toolcrib.execute import Caller
from toolcrib.model import Capability
from toolcrib.pool import PoolPack
from toolcrib.search import facts as facts_module
from toolcrib.settings import EmbedSettings, Settings

KEY = b"k" * 32
WORDS = Settings(store=":memory:", index="memory", embed=EmbedSettings(embedder="none"))
SEVERAL = Caller("some", Scope(sources=frozenset({"slack-mcp", "files"})))
NOUNS = ("file", "message", "issue", "page", "event", "invoice", "channel", "folder")


def servers() -> list[StampedTools]:
    found = [StampedTools(id) for id in ("slack-mcp", "jira-mcp", "files", "basic-memory")]
    for source in found:
        for verb in ("read", "list", "create", "delete"):
            for noun in NOUNS:
                source.put(f"{verb}_{noun}", f"{verb.title()} one {noun} of {source.id}")
    return found


@contextmanager
def stored(path: Path) -> Generator[tuple[Crib, PoolPack]]:
    """A crib as it is after a start: its entries are those that another has written."""
    with Crib(WORDS) as first:
        first.add_source(*servers())
        inventory = inventory_of(first)
        inventory.current().pack_plan().write(path, KEY, inventory.fact_maker())
    pack = PoolPack.open(path, KEY)
    assert pack
    with Crib(WORDS) as crib:
        inventory_of(crib).pool.adopt(pack)
        crib.add_source(*servers())
        yield crib, pack


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the definitions that are read."""
    names: list[str] = []
    original = PoolPack._read_definition

    def spy(pack: PoolPack, row: int, name: str) -> Capability:
        names.append(name)
        return original(pack, row, name)

    monkeypatch.setattr(PoolPack, "_read_definition", spy)
    return names


@pytest.mark.parametrize("caller", [Caller("all"), SEVERAL], ids=["all", "several"])
def test_a_search_reads_its_hits_alone(tmp_path: Path, read: list[str], caller: Caller):
    with stored(tmp_path / "a.pool") as (crib, pack):
        crib.search("first", caller=caller)  # builds the index, which reads all
        for text in ("send a message on slack", "delete invoice", "zzz qqq", "", "+file read"):
            read.clear()
            pack._definition.cache_clear()
            answer = crib.search(text, caller=caller)
            assert set(read) <= {hit.name for hit in answer}, text


def test_a_session_reads_what_it_shows_alone(tmp_path: Path, read: list[str]):
    with stored(tmp_path / "a.pool") as (crib, pack):
        crib.search("first")
        read.clear()
        pack._definition.cache_clear()
        session = crib.session(caller=SEVERAL)
        assert session.deferring
        assert "slack-mcp (32)" in session.deferred_summary()
        assert not session.core_names
        assert not read
        found = session.search("delete one invoice of files")
        assert set(read) <= {hit.name for answer in found.answers for hit in answer}


def test_no_fact_of_a_stored_entry_is_worked_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: list[str]
):
    made: list[str] = []
    original = facts_module.facts_of
    with stored(tmp_path / "a.pool") as (crib, _):
        inventory = inventory_of(crib)
        read.clear()
        monkeypatch.setattr(
            facts_module, "facts_of", lambda entry: made.append(entry.name) or original(entry)
        )
        facts = inventory.facts(inventory.entries())
        assert facts.monolingual_share == {"en": 1.0}
        known = {name: facts.of_name(name) for name in inventory.entries()}
        slack = known["mcp_slack-mcp_read_file"]
        assert slack
        assert slack.products == {"slack"}
        assert not read
        assert not [name for name in made if name.startswith("mcp_")]


def test_facts_are_made_of_what_is_defined_otherwise_and_of_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made: list[str] = []
    original = facts_module.facts_of
    monkeypatch.setattr(
        facts_module, "facts_of", lambda entry: made.append(entry.name) or original(entry)
    )
    with stored(tmp_path / "a.pool") as (crib, _):
        inventory = inventory_of(crib)
        crib.add(read_river, description="Read a river")
        inventory.facts(inventory.entries())
        source = next(
            each.source for each in inventory.pool._merger.records.values() if each.stored
        )
        assert isinstance(source, StampedTools)
        made.clear()
        source.at_source = "ready"
        inventory.relist(source)
        inventory.facts(inventory.entries())
        assert not made
        source.put("read_file", "Read a file, and more")
        inventory.relist(source)
        facts = inventory.facts(inventory.entries())
        assert made == [f"mcp_{source.id}_read_file"]
        made.clear()
        plan = inventory.current().pack_plan()
        plan.write(tmp_path / "b.pool", KEY, inventory.fact_maker())
        pack = PoolPack.open(tmp_path / "b.pool", KEY)
        assert pack
        inventory.pool.go_over(pack, plan)
        moved = inventory.facts(inventory.entries())
        assert not made
        names = [*inventory.entries()]
        assert [moved.of_name(n) for n in names] == [facts.of_name(n) for n in names]
        assert moved is not facts


def read_river() -> None: ...
