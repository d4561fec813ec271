import json

import pytest

from training import corpus, texts
from training.requests import Asked, Written


@pytest.fixture
def pool(tmp_path):
    """Two tools with pairs, one of a set without a licence, and one with requests of ours."""
    folder = tmp_path / "train_pool"
    folder.mkdir()
    named = [("metatool", "Weather"), ("metatool", "Hotel"), ("toollens", "Secret")]
    rows = [{"source": s, "id": n, "name": n, "description": f"{n}. For you."} for s, n in named]
    pairs = [{"source": s, "query": f"a query about {n}", "positive": [n]} for s, n in named]
    more = {"id": "acme/cards-mcp::addCard", "name": "addCard", "description": "Add a card."}
    files = {"tools": rows, "pairs": pairs, "mcp_docs_unlabelled": [more]}
    for name, some in files.items():
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in some))
    return folder


WRITTEN = Written(
    [
        ("acme/cards-mcp::addCard", "plain", "please put this on a card"),
        ("other::tool", "plain", "nobody has this tool"),
    ],
    [("tool", "boil", "Boil an egg.", "煮蛋"), ("plain", "an egg of five minutes")],
    ["good morning"],
)


def test_what_has_no_licence_or_no_tool_is_left_out(pool):
    found = corpus.gather(pool, WRITTEN)
    assert [tool.name for tool in found.tools] == ["Weather", "Hotel", "addCard", "boil", "boil"]
    said = {each.text for each in found.asked if each.tools}
    assert "please put this on a card" in said
    assert not any("Secret" in text or "nobody" in text for text in said)


def test_each_kind_says_which_tools_are_right(pool):
    asked = corpus.gather(pool, WRITTEN).asked
    assert Asked("metatool", [1], "a query about Hotel") in asked
    assert Asked("plain", [2], "please put this on a card") in asked
    assert Asked("plain", (3, 4), "an egg of five minutes") in asked
    assert Asked("none", (), "good morning") in asked
    assert {each.text for each in asked if each.kind == "name"} >= {"add Card", "boil"}


def test_texts_are_read_as_they_were_written(pool, tmp_path):
    found = corpus.gather(pool, WRITTEN)
    texts.write(found, tmp_path / "texts")
    again = texts.load(tmp_path / "texts")
    assert again.tools == found.tools
    assert [each.text for each in again.asked] == [each.text for each in found.asked]
    assert [[*each.tools] for each in found.asked] == [each.tools for each in again.asked]


def test_a_tool_is_told_with_and_without_its_server():
    tool = texts.Tool("acme jira", "createIssue", "Create an issue.", "title text")
    assert texts.described(tool) == "acme jira | create Issue: Create an issue. (title, text)"
    assert texts.described(tool, server=False).startswith("create Issue: ")
    assert texts.document(tool, server=False).startswith("createIssue\n")
