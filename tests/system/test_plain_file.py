"""Every reader of files that somebody names: no pipe, no device, no folder, nothing too deep."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcrib.client_config.document import read_document
from toolcrib.client_config.files import read_file
from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.settings import load_settings
from toolcrib.sources import FunctionSource, declare_tools
from toolcrib.sources.agents import read_agent
from toolcrib.sources.mcp import read_servers
from toolcrib.sources.skills import read_skill
from toolcrib.system import read_plain_file
from toolcrib.text.glossary import read_glossary

DEEP = 100_000


def servers(path: Path) -> None:
    """Read a file of servers, whose problems are told and not raised."""
    (problem,) = read_servers([path]).problems
    raise ConfigError(problem)


READERS: dict[str, Callable[[Path], object]] = {
    "settings": lambda path: load_settings({}, path),
    "servers": servers,
    "tools.yaml": lambda path: declare_tools(FunctionSource(), path),
    "skill": read_skill,
    "agent": read_agent,
    "client": read_file,
    "glossary": read_glossary,
}


@pytest.fixture(params=["pipe", "device", "folder"])
def odd(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "odd.json"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    return path


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_plain_file_is_refused_at_once(reader: str, odd: Path):
    with pytest.raises(ToolcribError, match=r"odd\.json.*(plain file|directory)"):
        READERS[reader](odd)


def test_a_file_may_be_so_large_and_no_larger(tmp_path: Path):
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert read_plain_file(path, 5) == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_plain_file(path, 4)


DOTS = ".".join(["a"] * 5_000)


@pytest.mark.parametrize(
    "text",
    [
        f"tools = {'[' * DEEP}",
        "tools = " + "{a=" * DEEP,
        f"approval.{DOTS} = 1",
        f"[gateway.profiles.{DOTS}]",
        f"[[{DOTS}]]",
        f"search.limit.{DOTS} = 1",
    ],
    ids=["lists", "tables", "dots", "headers", "unknown", "wrong"],
)
def test_settings_that_are_nested_too_deep_are_refused(tmp_path: Path, text: str):
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError):
        load_settings({}, path)


@pytest.mark.parametrize("text", ['{"mcpServers":' * DEEP, "[" * DEEP])
def test_json_that_is_nested_too_deep_is_refused(tmp_path: Path, text: str):
    path = tmp_path / "mcp.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"mcp\.json"):
        servers(path)
    with pytest.raises(ConfigError):
        read_document(text, "json")
    with pytest.raises(ToolcribError):
        read_agent(path)
