import re
from pathlib import Path

import pytest

from tests.workshop import SEEN, mcp, pooled
from toolcrib.lint import LintFinding, findings_by_source, lint
from toolcrib.lint.linter import RULES
from toolcrib.model import Capability, Entry, SkillInfo, ToolInfo
from toolcrib.sources.builtin_tools import builtin_tools

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "lint.md"
GOOD = ToolInfo(name="read_file", description="Read a text file from the disk")


def tool(name: str, description: str, **facts: object) -> ToolInfo:
    return ToolInfo(name=name, description=description, **facts)  # type: ignore[arg-type]


def found(rule: str, *capabilities: Capability) -> list[LintFinding]:
    return [each for each in lint(pooled(*capabilities).values()) if each.rule == rule]


def names(rule: str, *capabilities: Capability) -> list[str]:
    return [each.name for each in found(rule, *capabilities)]


def test_the_tools_that_come_with_toolcrib_pass():
    assert lint(pooled(*builtin_tools().capabilities()).values()) == []


def test_every_rule_is_documented_with_its_severity():
    rows = re.findall(
        r"^\| `([a-z-]+)` \| (\w+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert rows == [(rule.id, rule.severity) for rule in RULES]


def test_every_rule_says_what_it_looks_for_and_what_to_do():
    assert all(rule.check.__doc__ for rule in RULES)


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_a_good_tool_passes_every_rule(rule: str):
    assert names(rule, GOOD) == []


@pytest.mark.parametrize(
    ("rule", "bad"),
    [
        ("no-description", tool("a_b", " \n")),
        ("placeholder-description", tool("a_b", "TODO")),
        ("placeholder-description", tool("a_b", "No description provided.")),
        ("short-description", tool("list_pools", "List pools")),
        ("short-description", tool("list_pools", "列出")),
        ("long-description", tool("read_all", "Read it all. " * 100)),
        ("long-description", tool("read_all", "读取所有的文件内容" * 80)),
        ("undocumented-parameter", tool("r", "Read", parameters={"properties": {"p": {}}})),
        ("generic-name", tool("run", "Run a workflow by its name")),
        ("generic-name", mcp("redis", "get", "Get the value of a key")),
        ("unknown-link", tool("a_b", "Read", often_with=("nowhere",))),
        ("renamed", mcp("server", "x" * 80, "Read")),
        ("name-apart", tool("frobnicate", "Some stuff about things")),
        ("abbreviated-name", tool("lb_update", "Update a balancer")),
    ],
)
def test_what_a_rule_is_about_is_found(rule: str, bad: Capability):
    (finding,) = found(rule, GOOD, bad)
    assert finding.message
    assert finding.severity == {each.id: each.severity for each in RULES}[rule]


@pytest.mark.parametrize(
    ("rule", "fine"),
    [
        ("short-description", tool("list_files", "列出文件夹中的文件")),
        ("short-description", tool("nothing", "")),
        ("undocumented-parameter", tool("r", "Read", parameters={"properties": {}})),
        ("undocumented-parameter", tool("r", "x", parameters={"properties": {"p": {"$ref": "#"}}})),
        ("generic-name", tool("run_workflow", "Run a workflow")),
        ("unknown-link", tool("a_b", "Read", often_with=("read_file",))),
        ("renamed", mcp("server", "read", "Read")),
        ("name-apart", tool("logout", "Log out of the account")),
        ("name-apart", tool("git_commit", "Records changes to the repository")),
        ("name-apart", tool("bicycling", "骑行路径规划")),
        ("abbreviated-name", tool("lb_update", "Update the load balancer (lb)")),
        ("abbreviated-name", tool("lb_update", "Update", search_hint="load balancer")),
        ("abbreviated-name", tool("get_http_json", "Get a page")),
        ("abbreviated-name", SkillInfo(name="lb-skill", description="About them")),
    ],
)
def test_what_only_looks_like_it_is_not(rule: str, fine: Capability):
    assert names(rule, GOOD, fine) == []


def test_what_no_search_returns_is_not_looked_at():
    hidden = tool("a", "", searchable=False), tool("b", "", enabled=False)
    assert lint(pooled(*hidden).values()) == []


def test_the_same_description_is_told_with_the_first_that_has_it():
    text = "Send a message to somebody"
    twins = [tool("a_send", text), tool("b_send", text + "."), tool("c_send", text.upper())]
    first, second = found("same-description", *twins)
    assert (first.name, first.neighbour) == ("b_send", "a_send")
    assert "and 1 more" in second.message
    assert names("near-identical", *twins) == []


def test_a_skill_and_a_tool_may_say_the_same():
    text = "Fill in forms in a PDF file"
    skill = SkillInfo(name="forms", description=text, source="files")
    assert names("same-description", tool("fill_forms", text), skill) == []


def test_neighbours_that_read_alike_are_told_with_one_another():
    one = tool("post_note", "Send a short message to the members of the team at once")
    two = tool("send_note", "Send a short message to the members of a team at once")
    (finding,) = found("near-identical", one, two, GOOD)
    assert {finding.name, finding.neighbour} == {"post_note", "send_note"}


def test_neighbours_that_say_what_their_names_say_are_told_apart():
    text = "{} a single role of a user in the organisation, by the identifiers of both"
    one, two = tool("add_role", text.format("Add")), tool("remove_role", text.format("Remove"))
    assert names("near-identical", one, two) == []


def test_what_its_own_description_does_not_find_is_told():
    crowd = [tool(f"delete_object_{word}", f"Delete object {word}") for word in "abcd"]
    (finding,) = found("outranked", tool("purge", "Delete an object"), *crowd)
    assert finding.name == "purge"
    assert finding.neighbour.startswith("delete_object_")
    assert names("outranked", tool("purge", "Delete an object for good"), *crowd) == []


def test_findings_are_grouped_by_source_the_worst_of_a_tool_first():
    bad = mcp("slack", "run", ""), mcp("github", "get", "")
    groups = findings_by_source(lint(pooled(*bad).values()))
    assert list(groups) == ["mcp:github", "mcp:slack"]
    assert [each.rule for each in groups["mcp:slack"]] == ["no-description", "generic-name"]


def test_a_catalog_is_looked_at_whatever_it_holds():
    odd = tool("x\udcff", "\udcff \x00 \u202e", parameters={"properties": 3})
    assert lint(pooled(odd, *SEEN).values())
    assert lint([Entry("a", "a", odd)])
    assert lint([]) == []
