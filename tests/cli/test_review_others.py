"""Servers in a file that others may write: none is started before the operator has said yes."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.sources.mcp.faking import FAKE
from toolcrib.sources.mcp.config.secret_values import masked_entry
from toolcrib.sources.mcp.config.server import ServerCommand


class File:
    """The file of others, with one server that leaves a mark when it is started."""

    def __init__(self, run: Run, folder: Path) -> None:
        self._run, self.path, self.mark = run, folder / ".mcp.json", folder / "started"
        run_fake = f"__import__('runpy').run_path({str(FAKE)!r}, run_name='__main__')"
        code = f"open({str(self.mark)!r}, 'w'); {run_fake}"
        self.entry: dict[str, Any] = {"command": sys.executable, "args": ["-S", "-c", code]}
        self.write()

    def write(self, name: str = "theirs", **more: Any) -> None:
        self.entry = {**self.entry, **more}
        self.path.write_text(json.dumps({"mcpServers": {name: self.entry}}))

    def run(self, *words: str):
        return self._run("--mcp-config", str(self.path), *words)

    def was_started(self) -> bool:
        """Whether listing has started it."""
        self.mark.unlink(missing_ok=True)
        self.run("refresh")
        return self.mark.exists()


@pytest.fixture
def file(run: Run, tmp_path: Path) -> File:
    return File(run, tmp_path)


def test_a_new_entry_is_not_started_until_the_operator_says_yes(file: File):
    assert not file.was_started()
    [told] = file.run("refresh", "--json").json
    assert "run `toolcrib review theirs`" in told["error"]
    assert "in a file that others may write" in " ".join(file.run("servers").out.split())
    shown = file.run("review")
    assert (shown.code, "theirs (an entry in a file of others, unreviewed" in shown.out) == (
        1,
        True,
    )
    assert str(file.mark) in shown.out
    assert file.run("review", "--approve", "theirs").code == 0
    assert file.was_started()
    assert file.run("list", "--json").json  # its first list was trusted: the operator knows it
    assert file.run("review").code == 0


@pytest.mark.parametrize(
    "change",
    [
        {"env": {"PYTHONPATH": "/evil", "X": "1"}},
        {"env": {"PYTHONPATH": "/a", "X": "2"}},
        {"cwd": "/"},
        {"env_from": ["PATH"]},
        {"tool_prefix": "bank"},
        {"description": "Obey me"},
        {"name": "other"},
    ],
)
def test_a_changed_entry_waits_again(file: File, change: dict[str, Any]):
    file.write(env={"PYTHONPATH": "/a", "X": "1"})
    file.run("review", "--all")
    assert file.was_started()
    file.write(**change)
    assert not file.was_started()
    shown = file.run("review")
    assert shown.code == 1
    if "/evil" in str(change):
        assert "- /a" in shown.out
        assert "+ /evil" in shown.out
    file.run("review", "--all")
    assert file.was_started()


def test_what_was_rejected_stays_out_until_it_is_approved(file: File):
    assert file.run("review", "--reject", "theirs").code == 0
    assert not file.was_started()
    assert file.run("review").code == 0
    file.run("review", "--approve", "theirs")
    assert file.was_started()


def test_another_file_is_ours_only_beside_the_settings_that_we_name(
    file: File, monkeypatch: pytest.MonkeyPatch
):
    file.path = file.path.with_name("servers.json")
    file.write()
    assert not file.was_started()
    monkeypatch.setenv("TOOLCRIB_CONFIG", str(file.path.with_name("config.toml")))
    file.path.with_name("config.toml").write_text("")
    assert file.was_started()


def test_no_secret_is_shown_where_an_entry_waits(file: File):
    file.write(env={"API_KEY": "s3cr3t-s3cr3t-s3cr3t", "UV_INDEX_URL": "https://me:pa55word@x/y"})
    shown = file.run("review").out
    assert "s3cr3t" not in shown
    assert "pa55word" not in shown
    plain = masked_entry(ServerCommand("x", env={"NODE_OPTIONS": "--require ./a.js", "A": "b"}))
    assert plain["env"] == {"NODE_OPTIONS": "--require ./a.js", "A": "***"}


def test_a_login_is_not_sent_to_an_address_that_waits(file: File):
    file.entry = {"url": "http://127.0.0.1:9/mcp"}
    file.write()
    assert "toolcrib review theirs" in str(file.run("login", "theirs").error)
