"""Purposes are worked out for the servers that changed, and are the same as from scratch."""

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from tests.pool.from_scratch import StampedTools
from toolcrib.crib import server_purposes
from toolcrib.crib.server_purposes import KnownPurposes, ServerPurposes, word_stems
from toolcrib.model import EntryGroups
from toolcrib.pool import Pool
from toolcrib.sources.mcp import ServerCommand, ServerConfig

IDS = ("mail", "maps", "music", "money")


def server(id: str, description: str = "") -> Any:
    return SimpleNamespace(
        id=id, config=ServerConfig(id, ServerCommand("x"), description=description)
    )


def sorted_names(by_stem: Any) -> dict[str, list[str]]:
    return {stem: sorted(names) for stem, names in by_stem.items() if names}


class Setup:
    """Servers, their tools, and the groups of these, mended as they change."""

    def __init__(self) -> None:
        self.sources = {id: StampedTools(id) for id in IDS}
        self.pool = Pool()
        self.pool.add(*self.sources.values())
        self.servers = {id: server(id) for id in IDS}
        self.groups = self.pool.entries.groups()

    def put(self, id: str, name: str, *, held: bool) -> None:
        source = self.sources[id]
        source.put(name, "Does it")
        source.held = {**source.held, name: "unreviewed" if held else "changed"}
        before = self.pool.entries
        self.pool.refresh(source)
        names = self.pool.entries.changed_since(before)
        assert names is not None
        self.groups = self.groups.changed(self.pool.entries, names)

    def from_scratch(self) -> dict[str, list[str]]:
        groups = EntryGroups.of(dict(self.pool.entries))
        return sorted_names(KnownPurposes().updated(self.servers, groups).by_stem)


@pytest.mark.parametrize("seed", range(8))
def test_purposes_that_were_mended_are_those_worked_out_anew(seed: int):
    chance, setup, purposes = Random(seed), Setup(), ServerPurposes()
    for step in range(30):
        id = chance.choice(IDS)
        match chance.randrange(4):
            case 0:
                others = {n: each for n, each in setup.servers.items() if n != id}
                setup.servers = {**others, id: server(id, f"About {step} things")}
            case 1:
                setup.servers = {n: each for n, each in setup.servers.items() if n != id}
            case _:
                name = f"send_{chance.choice(['parcel', 'flower', 'letter'])}"
                setup.put(id, name, held=chance.random() < 0.7)
        assert sorted_names(purposes.by_stem(setup.servers, setup.groups)) == setup.from_scratch()


def test_a_change_works_out_the_purpose_of_its_server_alone(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    purpose = server_purposes.purpose
    monkeypatch.setattr(
        server_purposes, "purpose", lambda it, *tools: asked.append(it.id) or purpose(it, *tools)
    )
    setup, purposes = Setup(), ServerPurposes()
    purposes.by_stem(setup.servers, setup.groups)
    assert sorted(asked) == sorted(IDS)
    asked.clear()
    setup.put("maps", "send_parcel", held=True)
    assert purposes.by_stem(setup.servers, setup.groups)["parcel·"] == ["maps"]
    assert asked == ["maps"]
    setup.put("maps", "send_letter", held=False)
    purposes.by_stem(setup.servers, setup.groups)
    assert asked == ["maps"]
    setup.servers = {**setup.servers, "money": server("money", "Pays invoices")}
    [stem] = word_stems(["invoices"])
    assert purposes.by_stem(setup.servers, setup.groups)[stem] == ["money"]
    assert asked == ["maps", "money"]
