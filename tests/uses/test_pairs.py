import pytest

from toolcrib.store.uses import Pair
from toolcrib.uses import pairs
from toolcrib.uses.pairs import PairCounts


def test_counts_are_found_from_both_sides():
    counts = PairCounts({Pair("a", "b"): 2})
    counts.add(Pair("a", "b"))
    counts.add(Pair("c", "b"))
    assert counts.followers("a") == {"b": 3}
    assert counts.predecessors("b") == {"a": 3, "c": 1}
    assert counts.followers("b") == counts.predecessors("a") == {}


def test_the_most_frequent_come_first_ties_by_name():
    counts = PairCounts({Pair("b", "c"): 1, Pair("a", "c"): 1, Pair("x", "y"): 5})
    assert [pair for pair, _ in counts.items()] == [("x", "y"), ("a", "c"), ("b", "c")]


def test_of_too_many_the_rarest_go(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pairs, "MOST_PAIRS", 10)
    counts = PairCounts({Pair("often", "used"): 9})
    for number in range(11):
        counts.add(Pair(f"t{number}", "x"))
    assert len(counts) == 10
    assert counts.followers("often") == {"used": 9}
    assert counts.followers("t0") == {}
    assert "t0" not in counts.predecessors("x")
