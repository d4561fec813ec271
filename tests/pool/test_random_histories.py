"""However a pool came about, it is what its sources make of it now."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from tests.pool.from_scratch import (
    IDS,
    OWN_NAMES,
    StampedTools,
    change_tools,
    fingerprint_from_scratch,
    pool_from_scratch,
    some_source,
)
from tests.workshop import ListedSource
from toolcrib.model import ToolInfo
from toolcrib.names import Origin
from toolcrib.pool import TOOLS_UPDATED, Pool, ToolsUpdated


def as_seen(pool: Pool) -> dict[str, tuple[object, ...]]:
    """All that an entry is, by its name."""
    return {
        name: (e.bare, e.capability, e.state, e.remedy, e.overlaps, id(pool.source_of(name)))
        for name, e in pool.entries.items()
    }


def check(pool: Pool, sources: Sequence[Any], reserved: Sequence[str] = ()) -> None:
    """That a pool is what its sources make of it."""
    origins = [Origin("mcp", id, "") for id in reserved]
    expected = pool_from_scratch(sources, origins)
    assert as_seen(pool) == expected
    assert len(pool.entries) == len(expected)
    assert int(pool.fingerprint, 16) == fingerprint_from_scratch(sources)
    for bare in OWN_NAMES:
        named = sorted(name for name, each in expected.items() if each[0] == bare)
        assert pool.entries.named(bare) == named


class Mirror:
    """The names and entries of a pool as somebody knows them who hears the news alone."""

    def __init__(self, pool: Pool) -> None:
        self.known: dict[str, object] = {}
        pool.events.subscribe(TOOLS_UPDATED, self.hear)

    def hear(self, news: ToolsUpdated) -> None:
        for entry in news.removed:
            assert self.known.pop(entry.name) == entry
        for entry in news.added:
            assert entry.name not in self.known
        for entry in news.changed:
            assert self.known[entry.name] != entry
        self.known |= {entry.name: entry for entry in (*news.added, *news.changed)}


def functions(chance: Random, packaged: bool) -> ListedSource:
    names = chance.sample(("mcp_git_hub_open", "open", "call_tool", "mcp_git_x", "close"), 3)
    return ListedSource(*(ToolInfo(name=n, description="", packaged=packaged) for n in names))


@pytest.mark.parametrize("seed", range(12))
def test_any_history_comes_to_what_the_sources_are(seed: int):
    chance, pool = Random(seed), Pool()
    mirror, sources, reserved = Mirror(pool), list[Any](), ()
    for step in range(60):
        before, was = pool.entries, as_seen(pool)
        match chance.randrange(6):
            case 0 | 1:
                new = some_source(chance, ["mcp", "mcp", "sdk"])
                for _ in range(4):
                    change_tools(new, chance)
                pool.add(new)
                sources.append(new)
            case 2 if sources:
                sources.remove(old := chance.choice(sources))
                pool.remove(old)
            case 3 if step % 2:
                pool.add(listed := functions(chance, packaged=chance.random() < 0.5))
                sources.append(listed)
            case 4:
                reserved = chance.sample(IDS, 2)
                pool.reserve("mcp", reserved)
                pool.add()
            case _:
                for source in chance.sample(sources, min(2, len(sources))):
                    if isinstance(source, StampedTools):
                        change_tools(source, chance)
                        pool.refresh(source)
        check(pool, sources, reserved)
        assert dict(pool.entries) == mirror.known
        now = as_seen(pool)
        differ = {n for n in was.keys() | now.keys() if was.get(n, ())[:5] != now.get(n, ())[:5]}
        assert differ <= set(pool.entries.changed_since(before) or ())
