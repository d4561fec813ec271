from tests.workshop import SEEN, pooled
from toolcrib.pool import EntryCache
from toolcrib.pool.entries import MOST_CACHED


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
        assert len(memory._last[1]) <= MOST_CACHED
