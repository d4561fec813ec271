from collections.abc import Collection

import pytest

from tests.workshop import SEEN, ListedSource, mcp, pooled
from toolcrib.pool import EntryCache, Pool
from toolcrib.pool.entry_cache import MOST_CACHED


def test_a_value_is_made_once_for_the_same_entries():
    memory = EntryCache[str, list[int]]()
    entries = pooled(*SEEN)
    first = memory.get(entries, "a", lambda: [1])
    assert memory.get(entries, "a", lambda: [2]) is first
    assert memory.get(entries, "b", lambda: [3]) == [3]
    assert memory.get(pooled(*SEEN), "a", lambda: [4]) == [4]


def test_it_does_not_grow_without_end():
    memory = EntryCache[int, int]()
    entries = pooled(*SEEN)
    for number in range(3 * MOST_CACHED):
        assert memory.get(entries, number, lambda: number) == number  # noqa: B023 - called at once
        assert len(memory._values) <= MOST_CACHED


def test_a_value_is_mended_by_what_changed_since_it_was_made():
    pool, source = Pool(), ListedSource(*SEEN)
    pool.add(source)
    memory = EntryCache[str, frozenset[str]]()
    calls: list[frozenset[str]] = []

    def update(old: frozenset[str], changed: Collection[str]) -> frozenset[str]:
        calls.append(frozenset(changed))
        return old.difference(changed).union(name for name in changed if name in pool.entries)

    def names() -> frozenset[str]:
        return memory.get(pool.entries, "names", lambda: frozenset(pool.entries), update)

    first = names()
    source.listed = (*SEEN[1:], mcp("new", "tool"))
    pool.refresh(source)
    assert names() == frozenset(pool.entries) != first
    assert names() is names()
    assert calls == [frozenset({SEEN[0].name, "mcp_new_tool"})]


def test_a_value_of_another_pool_is_made_anew():
    memory = EntryCache[str, str]()

    def never(_old: str, _changed: Collection[str]) -> str:
        pytest.fail("it cannot be mended")

    assert memory.get(pooled(*SEEN), "a", lambda: "first", never) == "first"
    assert memory.get(pooled(*SEEN), "a", lambda: "second", never) == "second"
