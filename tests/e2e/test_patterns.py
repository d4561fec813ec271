"""Patterns that hang other engines, asked of a whole catalog: each is looked for or refused."""

import random

import pytest

from tests.plan import amount
from tests.workshop import ListedSource, many
from toolcrib import Crib

SEEDS = ("a", "(a|a)", "[a-z]", "(a|aa)", ".", "\\w", "(turn|turn_)", "(gear|ge|ar)", "x{0,9}")
ENDS = ("$", "!", "\\d$", "(?=z)", "(a)\\1", "[A-Z]$", "{50}!", "{1000}{1000}")


def hostile(count: int) -> list[str]:
    """Repeats of repeats, alternatives that overlap, and what only backtracking could do."""
    chance = random.Random(28)
    made: list[str] = []
    for _ in range(count):
        pattern = chance.choice(SEEDS)
        for _ in range(chance.randrange(1, 6)):
            pattern = f"({pattern}{chance.choice('+*')}){chance.choice(['+', '*', '{2,40}', ''])}"
        made.append(f"/{chance.choice(['', '^'])}{pattern}{chance.choice(ENDS)}/")
    return made


@pytest.mark.plan(28)
def test_no_pattern_holds_up_a_search():
    with Crib() as crib:
        crib.add_source(ListedSource(*many(amount(28, "tools"))))
        crib.search("turn a gear")
        refused = found = 0
        for pattern in hostile(amount(28, "patterns")):
            answer = crib.search(pattern)  # whoever backtracks here never ends
            refused += "The pattern cannot be used" in answer.note
            found += bool(answer)
    assert refused
    assert found
