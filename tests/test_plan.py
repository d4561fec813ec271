"""Every behaviour of the plan has a test, and every test of the plan a behaviour."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import plan
from tests.plan import REQUIRED, amount

FOLDER = Path(__file__).parent


def calls(name: str) -> Iterator[tuple[object, ...]]:
    """The arguments of every call of a function or mark of this name in the tests."""
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(name):
                yield tuple(each.value for each in node.args if isinstance(each, ast.Constant))


def test_every_behaviour_has_a_test_and_every_mark_a_behaviour():
    marked = {number for (number,) in calls("pytest.mark.plan")}
    assert marked == set(REQUIRED)


def test_every_amount_is_used_and_none_is_made_up():
    used = {given for given in calls("amount") if given}
    assert used == {(number, of) for number, each in REQUIRED.items() for of in each.amounts}


def test_the_full_amounts_are_the_larger_ones(monkeypatch: pytest.MonkeyPatch):
    every = [(number, of) for number, each in REQUIRED.items() for of in each.amounts]
    monkeypatch.setattr(plan, "SOAK", False)
    small = [amount(*each) for each in every]
    monkeypatch.setattr(plan, "SOAK", True)
    full = [amount(*each) for each in every]
    assert all(few < many for few, many in zip(small, full, strict=True))
