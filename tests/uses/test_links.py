from pathlib import Path
from textwrap import dedent

from tests.workshop import ListedSource, mcp
from toolcrib.crib import Crib
from toolcrib.model import Capability, SkillInfo, ToolInfo
from toolcrib.pool import Pool
from toolcrib.search import PoolFacts
from toolcrib.search.facts import mentioned_tools
from toolcrib.settings import Settings
from toolcrib.sources import FunctionSource
from toolcrib.uses import unresolved_links
from toolcrib.uses.hints import Links, declared_links


def tool(name: str, *often_with: str) -> ToolInfo:
    return ToolInfo(name=name, description="", often_with=often_with)


def skill(name: str, body: str = "", *tools: str) -> SkillInfo:
    return SkillInfo(name=name, description="", source="files", body=body, often_with=tools)


def pool_of(*capabilities: Capability) -> Pool:
    pool = Pool()
    pool.add(ListedSource(*capabilities))
    return pool


def links(*capabilities: Capability) -> Links:
    pool = pool_of(*capabilities)
    return declared_links(PoolFacts.of(pool.entries).linking(), pool.entries, pool.candidates)


def test_a_link_goes_both_ways():
    assert links(tool("a", "b"), tool("b"), tool("c")) == {"a": ("b",), "b": ("a",)}


def test_a_link_may_use_a_bare_name_that_is_unique():
    found = links(tool("a", "create_issue"), mcp("github", "create_issue"))
    assert found["a"] == ("mcp_github_create_issue",)


def test_what_leads_to_itself_to_nothing_or_to_several_is_no_link():
    several = mcp("github", "create_issue"), mcp("jira", "create_issue")
    assert not links(tool("a", "a", "nowhere", "create_issue"), *several)


def test_a_skill_is_linked_with_the_tools_it_names_and_they_with_it():
    body = "First `read_file`, then `mcp_slack_send`, and not `nothing_like_it` nor `get`."
    tools = tool("read_file"), tool("write_file"), tool("get"), mcp("slack", "send")
    found = links(skill("report", body, "write_file"), *tools)
    assert found["skill_report"] == ("write_file", "read_file", "mcp_slack_send")
    assert found["read_file"] == ("skill_report",)
    assert "get" not in found


def test_only_identifiers_in_backticks_are_mentioned_each_once():
    body = "`run` `read_file` and `read_file`, read_dir, `a b`, `getForecast`, ```x_y```"
    assert mentioned_tools(body) == ["read_file", "getForecast", "x_y"]


def test_a_link_that_leads_nowhere_is_a_problem_with_file_line_key_and_the_nearest(tmp_path: Path):
    yaml = tmp_path / "tools.yaml"
    text = """
        base:
          function: posixpath:basename
          often_with: [folder, reed_file, zzzzqqqq]
        folder:
          function: posixpath:dirname
        """
    yaml.write_text(dedent(text).lstrip(), encoding="utf-8")
    with Crib.from_settings(Settings(store=":memory:", tools=(yaml,), builtin_tools=True)) as crib:
        first, second = crib.problems
        assert first.startswith(f"{yaml}:3: base.often_with.1: no tool 'reed_file' here")
        assert first.endswith("did you mean 'read_file'?")
        assert "did you mean" not in second
        assert crib.operator.hints("base").links == ("folder",)


def test_a_link_that_fits_several_is_a_problem_with_their_names():
    source = FunctionSource()
    source.links["a", "create_issue"] = "tools.yaml:2: a.often_with.0:"
    pool = pool_of(mcp("github", "create_issue"), mcp("jira", "create_issue"))
    (problem,) = unresolved_links([source], list(pool.entries), pool.candidates)
    assert problem == (
        "tools.yaml:2: a.often_with.0: 'create_issue' fits several: "
        "mcp_github_create_issue, mcp_jira_create_issue; use one of these"
    )
