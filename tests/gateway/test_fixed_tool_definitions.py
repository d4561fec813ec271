import json
from pathlib import Path

from toolcrib.gateway.fixed_tool_definitions import FIXED_TOOLS
from toolcrib.gateway.tool_list import FIXED_TOOLS_LISTED, ToolEncoder
from toolcrib.text import token_counter

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "gateway.md"
MOST_TOKENS = 1_200


def test_there_are_at_most_five_tools_within_the_budget_and_the_guide_has_the_figure():
    text = json.dumps([*FIXED_TOOLS_LISTED.values()], ensure_ascii=False, separators=(",", ":"))
    counter = token_counter()
    assert counter.how == "counted with o200k_base"
    assert len(FIXED_TOOLS_LISTED) <= 5
    assert counter.count(text) <= MOST_TOKENS
    assert f"{counter.count(text)} tokens (o200k_base)" in GUIDE.read_text(encoding="utf-8")


def test_every_fixed_tool_would_pass_as_any_other():
    shown = ToolEncoder().of(FIXED_TOOLS.values())
    assert [tool["inputSchema"] for tool in shown] == [
        tool.parameters for tool in FIXED_TOOLS.values()
    ]


def test_the_budget_of_a_host_that_cuts_texts_is_kept():
    assert all(len(tool.description) < 2_048 for tool in FIXED_TOOLS.values())
