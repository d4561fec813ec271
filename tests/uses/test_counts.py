import pytest

from toolcrib.store import UsePair, UseRecord
from toolcrib.uses.counts import PairCounts


def test_counts_are_found_from_both_sides():
    counted = PairCounts({UsePair("a", "b"): 2})
    counted.add(UsePair("a", "b"))
    counted.add(UsePair("c", "b"))
    assert counted.followers("a") == {"b": 3}
    assert counted.predecessors("b") == {"a": 3, "c": 1}
    assert counted.followers("b") == counted.predecessors("a") == {}


def test_the_most_frequent_come_first_ties_by_name():
    counted = PairCounts({UsePair("b", "c"): 1, UsePair("a", "c"): 1, UsePair("x", "y"): 5})
    assert [pair for pair, _ in counted.items()] == [("x", "y"), ("a", "c"), ("b", "c")]


def test_of_too_many_the_rarest_go(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(UseRecord, "MOST_PAIRS", 10)
    counted = PairCounts({UsePair("often", "used"): 9})
    for number in range(11):
        counted.add(UsePair(f"t{number}", "x"))
    assert len(counted) == 10
    assert counted.followers("often") == {"used": 9}
    assert counted.followers("t0") == {}
    assert "t0" not in counted.predecessors("x")
