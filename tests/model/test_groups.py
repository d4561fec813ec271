"""Groups of names share what is the same, and are what sets would be."""

from collections.abc import Collection
from random import Random

from toolcrib.model import with_name, without_name
from toolcrib.model.groups import LEAST_FOLDED, NameGroup


def test_a_group_is_the_set_that_it_stands_for_after_any_changes():
    chance = Random(3)
    first = frozenset(f"n{number}" for number in range(40))
    group: Collection[str] = first
    plain = set(first)
    held: list[tuple[Collection[str], set[str]]] = [(group, set(plain))]
    for _ in range(600):
        name = f"n{chance.randrange(80)}"
        if chance.random() < 0.5:
            group = with_name(group, name)
            plain.add(name)
        else:
            group = without_name(group, name)
            plain.discard(name)
        held.append((group, set(plain)))
    for each, names in held:
        assert sorted(each) == sorted(names)
        assert len(each) == len(names)
        assert bool(each) == bool(names)
        assert all((f"n{number}" in each) == (f"n{number}" in names) for number in range(80))
    assert any(isinstance(each, NameGroup) for each, _ in held)
    assert not all(isinstance(each, NameGroup) for each, _ in held)


def test_many_names_are_not_copied_for_one():
    class Uncopied(Collection[str]):
        def __len__(self) -> int:
            return 1_000

        def __contains__(self, name: object) -> bool:
            return name == "a"

        def __iter__(self):
            raise AssertionError("it is copied")

    group: Collection[str] = Uncopied()
    for number in range(LEAST_FOLDED - 1):
        group = with_name(group, f"n{number}")
    group = without_name(group, "a")
    assert len(group) == 1_000 + LEAST_FOLDED - 2
    assert "n3" in group
    assert "a" not in group
