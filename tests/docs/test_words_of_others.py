"""The page of other projects' names: it has each of them, and what it names of ours is there."""

import re
from pathlib import Path

import pytest

import toolcrib
from toolcrib import Crib, Session
from toolcrib.settings.schema import documented

PAGE = (Path(__file__).parents[2] / "docs/guide/words-of-others.md").read_text(encoding="utf-8")
ROWS = [line.split(" | ") for line in PAGE.splitlines() if line.startswith("| ")][1:]
OTHERS = """
    ToolPool TOOLS_UPDATED MCPToolsCache SDKToolsCache shouldDefer searchHint discoveredTools
    DeferrablePolicy allowedTools capabilities ENABLE_TOOL_SEARCH ApprovalToolNode never_defer
""".split()


@pytest.mark.parametrize("name", OTHERS)
def test_the_page_has_the_names_that_others_give(name: str):
    assert any(name in row[0] for row in ROWS)


def test_what_it_names_of_ours_is_there():
    ours = " ".join(row[1] for row in ROWS)
    for owner, kind in (("crib", Crib), ("session", Session)):
        called = re.findall(rf"`{owner}\.(\w+)\(", ours)
        assert called
        assert not [name for name in called if not hasattr(kind, name)]
    settings = {each.key for each in documented()}
    named = re.findall(r"`((?:session|search)\.\w+)(?: = [^`]*)?`", ours)
    assert named
    assert not set(named) - settings
    assert hasattr(toolcrib, "per_request_tools")
