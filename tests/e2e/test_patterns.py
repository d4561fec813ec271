"""Patterns that hang other engines, asked of a whole catalog: each is looked for or refused."""

import random
import time

import pytest

from tests.plan import amount
from tests.workshop import ListedSource, many
from toolcrib import Crib

# Of CPU time, for a thousand tools, generously: what backtracks takes longer than anyone waits.
QUICKLY_S = 1.0
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
    tools = amount(28, "tools")
    with Crib() as crib:
        crib.add_source(ListedSource(*many(tools)))
        crib.search("turn a gear")
        refused = found = 0
        for pattern in hostile(amount(28, "patterns")):
            began = time.process_time()
            answer = crib.search(pattern)
            assert time.process_time() - began < QUICKLY_S * max(1, tools / 1_000), pattern
            refused += "The pattern cannot be used" in answer.note
            found += bool(answer)
    assert refused
    assert found
