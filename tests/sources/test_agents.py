import json
import re

import pytest

from toolcrib.errors import SourceError
from toolcrib.model import AgentInfo
from toolcrib.sources.agents import AgentSource

CARD = {
    "name": "Route Planner",
    "description": "Plans routes",
    "url": "https://example.com/a2a",
    "version": "1.0",
    "capabilities": {"streaming": True},
    "skills": [
        {"id": "r", "name": "Route", "description": "Finds a way", "tags": ["maps", "traffic"]},
        {"id": "t", "name": "Toll", "tags": ["maps"]},
    ],
}


def write_card(path, **changes):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**CARD, **changes}), encoding="utf-8")


def test_an_agent_card_is_an_agent(tmp_path):
    write_card(tmp_path / "agent.json")
    (agent,) = AgentSource(tmp_path).capabilities()
    assert agent == AgentInfo(
        name="Route Planner",
        description="Plans routes",
        source="files",
        permission_kind="execute",
        tags=("maps", "traffic"),
        skills=("Route: Finds a way", "Toll"),
        url="https://example.com/a2a",
        path=str(tmp_path / "agent.json"),
    )


def test_a_card_of_a2a_1_names_its_address_in_its_first_interface(tmp_path):
    interfaces = [{"url": "https://one", "protocolBinding": "JSONRPC"}, {"url": "https://two"}]
    write_card(tmp_path / "agent-card.json", url="", supportedInterfaces=interfaces)
    (agent,) = AgentSource(tmp_path).capabilities()
    assert agent.url == "https://one"


def test_a_markdown_file_with_front_matter_is_an_agent(tmp_path):
    text = "---\nname: reviewer\ndescription: Reviews code\ntools: Read\n---\nYou review.\n"
    (tmp_path / "reviewer.md").write_text(text)
    (agent,) = AgentSource(tmp_path).capabilities()
    assert (agent.name, agent.description) == ("reviewer", "Reviews code")
    assert (agent.permission_kind, agent.url) == ("execute", "")


def test_the_place_may_be_one_file(tmp_path):
    write_card(tmp_path / "anything.json")
    write_card(tmp_path / "agent.json", name="other")
    names = [agent.name for agent in AgentSource(tmp_path / "anything.json").capabilities()]
    assert names == ["Route Planner"]


def test_files_of_other_kinds_are_not_taken_for_agents(tmp_path):
    write_card(tmp_path / "sub" / "x.agent.json")
    write_card(tmp_path / "package.json")
    (tmp_path / "README.md").write_text("# About")
    (tmp_path / "SKILL.md").write_text("---\nname: s\ndescription: s\n---")
    source = AgentSource(tmp_path)
    assert [agent.name for agent in source.capabilities()] == ["Route Planner"]
    assert source.problems == ()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("agent.json", "{", "agent.json: agent card: Invalid JSON: .*line 1"),
        ("agent.json", "[]", "agent.json: agent card: "),
        ("agent.json", '{"name": "x"}', "agent.json: description: Field required"),
        (
            "agent.json",
            '{"name": "x", "description": "x", "skills": [{}]}',
            r"agent.json: skills\.0\.name: Field required",
        ),
        ("a.md", "# No front matter", "a.md:1: there is no front matter"),
        ("a.md", "---\nname: x\n---", "a.md:2: description: is missing"),
        ("agent.json", "[" * 100_000, "agent.json: agent card: Invalid JSON: recursion"),
    ],
)
def test_a_bad_agent_is_a_problem_and_hides_no_other(tmp_path, name, text, message):
    write_card(tmp_path / "good" / "agent.json", name="good")
    (tmp_path / name).write_text(text)
    source = AgentSource(tmp_path)
    assert [agent.name for agent in source.capabilities()] == ["good"]
    (problem,) = source.problems
    assert re.search(message, problem)


def test_a_place_that_is_not_there_is_broken_and_not_empty(tmp_path):
    with pytest.raises(SourceError, match="nowhere"):
        AgentSource(tmp_path / "nowhere").capabilities()


def test_what_is_hidden_in_an_agent_is_taken_out_and_reported(tmp_path):
    card = {
        "name": "a\u202eb",
        "description": "Plans \ufffcjourneys",
        "url": "https://x.example",
        "skills": [{"name": "go\u3164", "description": "far"}],
    }
    (tmp_path / "agent.json").write_text(json.dumps(card))
    source = AgentSource(tmp_path)
    (agent,) = source.capabilities()
    assert (agent.name, agent.description, agent.skills) == ("ab", "Plans journeys", ("go: far",))
    assert agent.flags == ("bidi", "blank", "zero-width")
    assert "agent.json:1: there is hidden text in it" in source.problems[0]


def test_a_link_that_leads_out_of_the_folder_is_not_read(tmp_path):
    inside = tmp_path / "agents"
    inside.mkdir()
    (tmp_path / "out.md").write_text("---\nname: out\ndescription: d\n---\nx\n")
    (inside / "link.md").symlink_to(tmp_path / "out.md")
    source = AgentSource(inside)
    assert source.capabilities() == ()
    assert "is a link out of" in source.problems[0]
    assert [each.name for each in AgentSource(inside / "link.md").capabilities()] == ["out"]
