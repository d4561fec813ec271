import json
import threading
import webbrowser
from pathlib import Path

import httpx2
import pytest

from tests.cli.conftest import Run
from tests.sources.mcp.faking import own_file
from tests.sources.mcp.oauth_server import guarded
from toolcrib.errors import ConfigError, SourceError


@pytest.fixture(scope="module")
def url():
    with guarded() as server:
        yield server.url


@pytest.fixture
def file(tmp_path: Path, url: str) -> str:
    path = own_file()
    path.write_text(json.dumps({"mcpServers": {"far": {"url": url, "tool_prefix": "f"}}}))
    return str(path)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the browser was sent to; it goes there, and on."""
    seen: list[str] = []

    def visit(address: str) -> bool:
        seen.append(address)
        threading.Thread(
            target=httpx2.get, args=(address,), kwargs={"follow_redirects": True}
        ).start()
        return True

    monkeypatch.setattr(webbrowser, "open", visit)
    return seen


def test_login_opens_the_browser_and_lists_the_tools(run: Run, file: str, opened: list[str]):
    ran = run("--mcp-config", file, "login", "far")
    assert ran.code == 0
    assert "Logged in to far. Its tools: echo" in ran.out
    assert opened[0] in ran.err.replace("\n", "")
    assert run("--mcp-config", file, "login", "f", "--json").json["tools"] == ["echo"]
    assert len(opened) == 1
    assert run("--mcp-config", file, "login", "far", "--forget").out.endswith("is forgotten.\n")
    again = run("--mcp-config", file, "login", "far", "--forget", "--json").json
    assert again == {"server": "far", "forgotten": False}
    assert run("--mcp-config", file, "servers", "--json").json[0]["state"] == "needs_login"


def test_without_a_browser_the_address_is_printed_alone(run: Run, file: str, opened: list[str]):
    ran = run("--mcp-config", file, "login", "far", "--no-browser", "--timeout", "0.5")
    assert isinstance(ran.error, SourceError)
    assert "/authorize?response_type=code" in ran.err
    assert not opened


def test_a_server_that_is_not_configured_is_named_with_the_nearest(run: Run, file: str):
    ran = run("--mcp-config", file, "login", "fat")
    assert isinstance(ran.error, ConfigError)
    assert str(ran.error).endswith("nearest: far")
