"""An agent's errand: tools that nobody bound, found by search and called through the door.

"Search for recent papers on tool-augmented models and save a summary": the papers are those of an
MCP server of our own, the folder is that of the reference server for files, and what is left is
done by tools of Toolcrib's own.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.install_test_servers import install, servers
from tests.e2e.opening import crib_over
from tests.sources.mcp.faking import nothing_left
from toolcrib import Crib
from toolcrib.execute import ApprovalRequest
from toolcrib.model import Hit, Json
from toolcrib.settings import ApprovalSettings

EXAMPLES = Path(__file__).parents[2] / "examples"
PAPERS = {"command": sys.executable, "args": [str(EXAMPLES / "papers_server.py")]}
ASK = ApprovalSettings(servers="ask")


class Person:
    """Approves whatever is asked, and remembers what that was."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, request: ApprovalRequest, /) -> bool:
        self.asked.append(request.name)
        return True


@pytest.fixture
def person() -> Person:
    return Person()


def found(crib: Crib, query: str, name: str) -> Hit:
    """What the search for it says of a tool, which has to be among the few it reveals."""
    hits = {hit.name: hit for hit in crib.search(query)}
    assert name in hits, (query, list(hits))
    assert len(hits) <= crib.settings.search.limit < len(crib.entries()) / 4
    return hits[name]


def called(crib: Crib, person: Person, name: str, **arguments: Json):
    outcome = asyncio.run(crib.call(name, arguments, approver=person))
    assert outcome.ok, outcome
    return outcome


def test_papers_are_searched_and_a_summary_is_saved(tmp_path: Path, person: Person):
    desk = tmp_path / "desk"
    desk.mkdir()
    two = {"papers": PAPERS, "filesystem": servers(install(), desk)["filesystem"]}
    settings = {"builtin_tools": True, "file_roots": [str(desk)], "approval": ASK}
    with nothing_left(), crib_over(tmp_path, two, **settings) as crib:
        finder = found(crib, "search for recent papers", "mcp_papers_search_papers")
        assert finder.state == "asleep"
        listed = called(crib, person, finder.name, topic="tool use", since=2024)
        titles = [paper["title"] for paper in json.loads(json.dumps(listed.structured))["result"]]
        assert len(titles) == 2

        saver = found(crib, "write a summary to a file", "mcp_filesystem_write_file")
        summary = "\n".join(titles)
        called(crib, person, saver.name, path=str(desk / "summary.md"), content=summary)

        reader = found(crib, "read a file", "read_file")
        read = called(crib, person, reader.name, path=str(desk / "summary.md")).content
        assert isinstance(read, dict)
        assert read["text"] == summary
    assert person.asked == ["mcp_filesystem_write_file"]


@pytest.mark.parametrize(("given", "file"), [(".", "summary.md"), ("out.md", "out.md")])
def test_the_example_runs_as_it_stands(tmp_path: Path, given: str, file: str):
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / "save_a_summary.py", given],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    steps = done.stdout.splitlines()
    assert "none of them in the prompt" in steps[0]
    assert steps[1].endswith("mcp_papers_search_papers (asleep)")
    assert steps[2].endswith("2 papers")
    assert steps[3].endswith("write_file (ready)")
    assert steps[-2:] == ["   asked: may I write_file? yes", "5. write_file: saved"]
    saved = (tmp_path / file).read_text()
    assert "A thousand tools in one prompt" in saved
    assert "tide tables" not in saved
