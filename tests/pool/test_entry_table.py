"""One moment of a pool: what is in it, under which bare names, and what changed since another."""

from random import Random

import pytest

from tests.workshop import READ_FILE
from toolcrib.model import Entry, State
from toolcrib.pool import EntryTable
from toolcrib.pool.entry_table import LEAST_FOLDED, MOST_CHANGES


def entry(name: str, bare: str = "") -> Entry:
    return Entry(name, bare or name, READ_FILE)


def test_a_table_is_what_a_dict_is_after_any_changes():
    chance, plain, table = Random(7), dict[str, Entry](), EntryTable.empty()
    held = [(dict(plain), table)]
    for _ in range(400):
        names = [f"tool_{chance.randrange(1_000)}" for _ in range(chance.randrange(1, 30))]
        changes = {
            name: entry(name, f"bare_{chance.randrange(40)}") if chance.random() < 0.7 else None
            for name in names
        }
        table = table.changed(changes)
        plain = {**plain, **{name: each for name, each in changes.items() if each}}
        plain = {name: each for name, each in plain.items() if changes.get(name, each)}
        held.append((plain, table))
    for expected, found in held[::20]:
        assert dict(found) == expected
        assert len(found) == len(expected)
        assert all(name in found for name in expected)
        for bare in ("bare_0", "bare_7", "nothing"):
            named = sorted(name for name, each in expected.items() if each.bare == bare)
            assert found.named(bare) == named
    for earlier, later in [(0, 400), (10, 11), (100, 140), (399, 400)]:
        before, after = held[earlier], held[later]
        differ = {
            name
            for name in before[0].keys() | after[0].keys()
            if before[0].get(name) is not after[0].get(name)
        }
        changed = after[1].changed_since(before[1])
        assert changed is not None
        assert differ <= set(changed)


def test_a_missing_name_is_no_key():
    table = EntryTable.empty().changed({"a": entry("a")}).changed({"a": None})
    assert ("a" in table, table.get("a"), table.get("a", 1)) == (False, None, 1)
    with pytest.raises(KeyError):
        table["a"]


def test_the_same_table_has_not_changed_and_nobody_knows_of_others():
    first = EntryTable.empty().changed({"a": entry("a")})
    second = first.changed({"b": entry("b")})
    assert set(first.changed_since(first) or ()) == set()
    assert second.changed_since(first) == {"b"}
    assert first.changed_since(second) is None
    assert second.changed_since(EntryTable.empty()) is None
    assert second.changed_since(dict(first)) is None


def test_what_changed_long_ago_is_forgotten():
    first = EntryTable.empty()
    second = first.changed({f"tool_{n}": entry(f"tool_{n}") for n in range(MOST_CHANGES + 1)})
    third = second.changed({"one": entry("one")})
    assert third.changed_since(first) is None
    assert third.changed_since(second) == {"one"}


def test_few_changes_share_what_was_there():
    first = EntryTable.empty().changed({str(n): entry(str(n)) for n in range(2 * LEAST_FOLDED)})
    second = first.changed({"one": entry("one")})
    assert second._base is first._base


class Hashed(Entry):
    """An entry whose definition has a hash."""

    __slots__ = ("_content",)

    def __init__(self, name: str, content: str, state: State = "ready") -> None:
        super().__init__(name, name, READ_FILE, state)
        object.__setattr__(self, "_content", content)

    @property
    def content(self) -> str:
        return self._content


def test_another_state_is_no_other_definition():
    first = EntryTable.empty().changed({"a": Hashed("a", "1"), "b": Hashed("b", "1")})
    later = first.changed({"a": Hashed("a", "1", "asleep"), "b": Hashed("b", "2"), "c": entry("c")})
    last = later.changed({"a": None}).changed({"c": entry("c")})
    assert later.changed_since(first) == {"a", "b", "c"}
    assert later.redefined_since(first) == {"b", "c"}
    assert last.redefined_since(later) == {"a", "c"}
    assert last.redefined_since(first) == {"a", "b", "c"}
    assert first.redefined_since(EntryTable.empty()) is None


def test_what_was_stored_and_is_in_memory_now_has_not_changed():
    first = EntryTable.empty()
    moved = first.changed({"b": entry("b")}, moved={"a": entry("a")})
    assert set(moved) == {"a", "b"}
    assert moved.changed_since(first) == {"b"}


def test_entries_that_lie_elsewhere_are_known_by_their_place():
    first = EntryTable.empty()
    changed = first.changed({"a": entry("a")})
    assert changed.place is first.place
    assert changed.moved(EntryTable.empty().stored, {}).place is not first.place
