"""What is counted as sent is what a client receives, byte for byte."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.clients import Workshop, asked, connected
from toolcrib.gateway import EffectiveMode, initial_context
from toolcrib.gateway.instructions import BUDGET
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.gateway.tool_list import FIXED_TOOLS_LISTED
from toolcrib.text.tokens import Tokenizer

MODES: tuple[EffectiveMode, ...] = ("search", "direct", "passthrough", "code")


@pytest.mark.parametrize("era", ["legacy", "auto"])
@pytest.mark.parametrize("mode", MODES)
def test_it_is_what_a_client_receives(era: Any, mode: EffectiveMode):
    shop = Workshop()
    principal = Principal("ann", Profile(mode=mode))
    expected = initial_context(shop.crib, principal)

    async def run() -> None:
        async with connected(shop.server(principal), era) as client:
            listed = await client.list_tools()
            tools: Any = [
                tool.model_dump(mode="json", by_alias=True, exclude_unset=True)
                for tool in listed.tools
            ]
            assert client.instructions == expected.instructions
            assert tools == expected.tools

    asked(run)
    assert expected.mode == mode
    assert json.loads(expected.text.partition("\n[")[2].join(["[", ""])) == expected.tools


def test_any_mode_can_be_asked_for():
    shop = Workshop()
    few, many = (
        initial_context(shop.crib, Principal("ann")),
        initial_context(shop.crib, Principal("ann"), "direct"),
    )
    assert (few.mode, many.mode) == ("search", "direct")
    assert len(few.text) < len(many.text)


def test_the_page_has_the_price_of_the_fixed_tools():
    page = Path(__file__).parents[2] / "docs" / "guide" / "gateway.md"
    listed = json.dumps([*FIXED_TOOLS_LISTED.values()], ensure_ascii=False, separators=(",", ":"))
    words = " ".join(page.read_text(encoding="utf-8").split())
    count = Tokenizer().count
    flow, _, names = initial_context(Workshop().crib, Principal("ann")).instructions.partition("\n")
    assert f"All five together are {count(listed)} tokens (o200k_base)" in words
    assert f"The instructions add {count(flow)} for how to go about it" in words
    assert count(names) <= BUDGET
    assert f"at most {BUDGET} for what there is" in words
