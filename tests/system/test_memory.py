"""Memory: what nobody reaches is freed, and what stays is looked through once."""

import subprocess
import sys

import pytest

RING = """
import gc
from weakref import ref

from toolcrib.system import collect_garbage, collect_less

class Node: ...

def ring():
    node = Node()
    node.itself = node
    return node

{before}
node = ring()
seen = ref(node)
{between}
del node
{after}
print(gc.get_freeze_count() > 1_000, seen() is None)
"""


def ran(**parts: str) -> str:
    code = RING.format(**{"before": "", "between": "", "after": "", **parts})
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.stdout


def test_what_was_loaded_is_not_looked_through_and_garbage_of_later_still_is():
    assert ran(before="collect_less()", after="gc.collect()") == "True True\n"


@pytest.mark.parametrize("between", ["collect_less()", "collect_garbage()"])
def test_what_stayed_once_is_freed_when_nobody_reaches_it_any_more(between: str):
    assert ran(between=between, after="gc.collect()") == "True False\n"
    assert ran(between=between, after="collect_garbage()") == "True True\n"
