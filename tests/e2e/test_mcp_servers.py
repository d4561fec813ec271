"""Real third-party servers, from npm and PyPI: asleep, found, called, asleep again."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.install_test_servers import install, servers
from tests.sources.mcp.faking import below, left_of, own_file, text, zombies
from tests.waiting import HANG_S
from toolcrib.crib import Crib
from toolcrib.model import Call, CallContext, Deadline, Entry, Json, Outcome
from toolcrib.settings import Settings
from toolcrib.sources.mcp import McpServers
from toolcrib.wiring import stores_of

FIVE = ("everything", "filesystem", "git", "memory", "time")
MAIN = "from toolcrib.cli import main; main()"


@pytest.fixture(scope="module")
def installed() -> Path:
    return install()


@pytest.fixture
def config(installed: Path, tmp_path: Path) -> Path:
    """The file of a client, with a folder for the servers to play in."""
    playground = tmp_path / "playground"
    playground.mkdir()
    (playground / "note.txt").write_text("a note for the test")
    subprocess.run(["git", "init", "-q", str(playground)], check=True)
    file = own_file()
    table = {
        name: {**values, "idle_timeout_s": 1.5}
        for name, values in servers(installed, playground).items()
        if name in FIVE
    }
    file.write_text(json.dumps({"mcpServers": table}))
    return file


def toolcrib(config: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "--mcp-config", str(config), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Open:
    """A crib over the servers of a file, as a program would have it."""

    def __init__(self, config: Path) -> None:
        self._before = below(os.getpid())
        settings = Settings(store=":memory:")
        self.mcp: McpServers = McpServers.open([config], stores_of(settings))
        self.crib = Crib(settings)
        self.crib.add_source(*self.mcp.sources)

    def processes(self) -> set[int]:
        """Those that run because of this crib."""
        return below(os.getpid()) - self._before

    def call(self, name: str, **arguments: Json) -> Outcome:
        entry: Entry = self.crib.get(name)
        source = next(s for s in self.mcp.sources if s.id == entry.capability.source_id)
        running = CallContext(Deadline(HANG_S))
        return asyncio.run(source.call(Call(entry.bare, arguments), running))


def test_asleep_found_called_asleep_again(config: Path, tmp_path: Path):
    refreshed = json.loads(toolcrib(config, "refresh", "--json"))
    assert [each["error"] for each in refreshed] == [""] * 5
    assert all(each["tools"] > 0 for each in refreshed)
    opened = Open(config)
    try:
        assert opened.crib.problems == ()
        assert opened.processes() == set()
        playground = tmp_path / "playground"
        wanted: list[tuple[str, str, dict[str, Json], str]] = [
            (
                "read a text file",
                "mcp_filesystem_read_text_file",
                {"path": str(playground / "note.txt")},
                "a note for the test",
            ),
            (
                "remember entities in the knowledge graph",
                "mcp_memory_create_entities",
                {"entities": [{"name": "Ada", "entityType": "person", "observations": ["x"]}]},
                "Ada",
            ),
            (
                "what time is it in another time zone",
                "mcp_time_get_current_time",
                {"timezone": "Asia/Tokyo"},
                "Asia/Tokyo",
            ),
            (
                "git status of a repository",
                "mcp_git_git_status",
                {"repo_path": str(playground)},
                "note.txt",
            ),
            ("echo a message", "mcp_everything_echo", {"message": "hello"}, "hello"),
        ]
        for number, (query, name, arguments, words) in enumerate(wanted):
            hits = {hit.name: hit for hit in opened.crib.search(query, limit=8)}
            assert name in hits, (query, list(hits))
            assert hits[name].state == "asleep"
            said = opened.call(name, **arguments)
            assert said.ok, said
            assert words in text(said), said
            assert number + 1 >= len(list(opened.mcp.sources)) or opened.processes()
        assert left_of(opened.processes()) == {}
        assert zombies() == []
        states = {opened.crib.get(name).state for _, name, _, _ in wanted}
        assert states == {"asleep"}
    finally:
        opened.mcp.close()
        opened.crib.close()
    assert left_of(opened.processes()) == {}


def test_the_command_line_shows_servers_without_starting_them(config: Path):
    before = toolcrib(config, "servers")
    assert before.count("was never listed") == 5
    toolcrib(config, "refresh", "time")
    after = {each["server"]: each for each in json.loads(toolcrib(config, "servers", "--json"))}
    assert after["time"]["tools"] == 2
    assert after["time"]["state"] == "asleep"
    assert after["git"]["seen"] == 0.0
    found = json.loads(toolcrib(config, "search", "convert time between zones", "--json"))
    assert "mcp_time_convert_time" in json.dumps(found)
