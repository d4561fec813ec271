import pytest

from tests.workshop import mcp, pooled
from toolcrib.model import ToolInfo
from toolcrib.search import monolingual_share
from toolcrib.search.languages import LEAST_SHARE, translation_weight

ENGLISH = ToolInfo(name="read", description="Read a file")
CHINESE = ToolInfo(name="du", description="读取一个文件")
BOTH = ToolInfo(name="both", description="Read a file", desc={"zh-CN": "读取一个文件"})


def test_the_shares_are_of_all_entries():
    some = pooled(ENGLISH, CHINESE, BOTH, mcp("a", "b", "Write – with a dash"))
    assert monolingual_share(some.values()) == {"en": 0.5, "zh": 0.25}


def test_what_is_described_in_both_is_alone_in_neither():
    assert monolingual_share(pooled(BOTH).values()) == {}


def test_nothing_speaks_nothing():
    assert monolingual_share([]) == {}


@pytest.mark.parametrize(
    ("share", "part"), [(1.0, 1.0), (0.5, 0.5), (0.0, 0.0), (LEAST_SHARE / 2, 0.0)]
)
def test_a_translation_counts_by_how_many_need_it(share: float, part: float):
    assert translation_weight(share) == part
