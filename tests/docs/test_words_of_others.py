"""The page of other projects' names: it has each of them, and what it names of ours is there."""

import re
from pathlib import Path

import pytest

import toolcrib
from toolcrib import Crib, Session, Settings
from toolcrib.search.keywords import IN_DESCRIPTION, IN_NAME, WHOLE_NAME
from toolcrib.settings.schema import documented
from toolcrib.wiring import rules_of

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


def test_each_value_that_it_gives_a_setting_of_search_can_be_set():
    ours = " ".join(row[1] for row in ROWS)
    given = re.findall(r'`search\.(\w+) = "(\w+)"`', ours)
    assert {("fusion", "keywords"), ("fusion", "rrf"), ("cut", "top_band")} <= {*given}
    for key, value in given:
        rules = rules_of(Settings.model_validate({"search": {key: value}}))
        assert getattr(rules, key) == value


def test_the_points_that_it_names_are_those_of_search():
    points = f"({IN_NAME:g}, {IN_DESCRIPTION:g}, +{WHOLE_NAME:g})"
    assert any(points in row[0] and '"keywords"' in row[1] for row in ROWS)
    assert f"{IN_NAME:g} points" in PAGE
