"""`toolcrib edit`: by options, and in an editor that is a program like any other."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.sources.mcp.faking import FAKE
from toolcrib.errors import ConfigError
from toolcrib.settings import own_servers_file

COMMAND = (sys.executable, "-S", str(FAKE))
ENTRY = {"command": "x", "args": ["-y", "pkg", "/a"], "env": {"MODE": "fast"}}


def write(**servers: Any) -> None:
    file = own_servers_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"version": 3, "mcpServers": servers}))


def entry(name: str = "a") -> Any:
    return json.loads(own_servers_file().read_text())["mcpServers"][name]


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        (["--arg", "/b", "--arg", "/c"], {"args": ["-y", "pkg", "/a", "/b", "/c"]}),
        (["--drop-arg", "/a", "--arg", "/b"], {"args": ["-y", "pkg", "/b"]}),
        (["--env", "TOKEN", "--env", "B=${X}"], {"env_from": ["TOKEN"], "env.B": "${X}"}),
        (["--set", "call_timeout_s=120"], {"call_timeout_s": 120}),
        (["--set", 'always_load=["a"]', "--set", "trust=strict"], {"always_load": ["a"]}),
        (["--set", "env.MODE="], {"env": None}),
        (["--env", "MODE"], {"env": None, "env_from": ["MODE"]}),
    ],
)
def test_options_change_what_they_name_and_nothing_else(
    run: Run, options: list[str], changed: dict[str, Any]
):
    write(a=ENTRY, b={"command": "y"})
    assert run("edit", "a", *options, "--no-start").code == 0
    for key, value in changed.items():
        outer, _, inner = key.partition(".")
        assert (entry()[outer][inner] if inner else entry().get(outer)) == value
    assert entry()["command"] == "x"
    assert entry("b") == {"command": "y"}
    assert json.loads(own_servers_file().read_text())["version"] == 3


def test_another_command_stands_behind_two_dashes_and_keeps_the_rest(run: Run):
    write(a=ENTRY)
    assert run("edit", "a", "--no-start", "--", "uvx", "--with", "mcp<2", "pkg", "/a").code == 0
    told = {"command": "uvx", "args": ["--with", "mcp<2", "pkg", "/a"]}
    assert {key: entry()[key] for key in ("command", "args", "env")} == ENTRY | told


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--set", "call_timeout_s=soon"], "a number of seconds"),
        (["--set", "cal_timeout_s=3"], "'call_timeout_s'"),
        (["--set", "nothing"], "KEY=VALUE"),
        (["--set", "args.x=3"], "not an object"),
        (["--drop-arg", "pgk"], "nearest: pkg"),
        (["--url", "ftp://x", "--set", "command="], "http://"),
    ],
)
def test_what_cannot_be_used_changes_nothing(run: Run, options: list[str], told: str):
    write(a=ENTRY)
    before = own_servers_file().read_text()
    ran = run("edit", "a", *options)
    assert isinstance(ran.error, ConfigError)
    assert told in str(ran.error)
    assert own_servers_file().read_text() == before


def test_the_difference_is_shown_without_secrets_and_a_written_value_is_warned_of(run: Run):
    write(a={**ENTRY, "env": {"KEY": "s3cret-old"}})
    ran = run("edit", "a", "--env", "KEY=s3cret-new", "--arg", "/b", "--no-start")
    assert '+    "/b"' in ran.out
    assert "the value of KEY is written down" in ran.err
    assert "s3cret" not in ran.out + ran.err
    assert "s3cret" not in run("edit", "a", "--env", "KEY=s3cret-3", "--no-start", "--json").out


def test_the_changed_server_is_listed(run: Run):
    run("add", "a", "--no-start", "--", *COMMAND)
    ran = run("edit", "a", "--env", "MODE=${HOME}", "--json")
    assert ran.json["listed"]["tools"] == 12
    assert not run("edit", "a", "--env", "MODE=${HOME}", "--json").json["changed"]


def test_a_server_that_is_not_ours_or_nobodys_is_told(run: Run, tmp_path: Path):
    write(files=ENTRY)
    other = tmp_path / "other.json"
    other.write_text('{"mcpServers": {"b": {"command": "x"}}}')
    assert "nearest: files" in str(run("edit", "fils", "--arg", "x").error)
    ran = run("--mcp-config", str(other), "edit", "b", "--arg", "x")
    assert str(other) in str(ran.error)
    assert other.read_text() == '{"mcpServers": {"b": {"command": "x"}}}'


def test_without_a_terminal_something_has_to_be_said(run: Run):
    write(a=ENTRY)
    assert "by options" in str(run("edit", "a").error)


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Texts that the editor leaves, one after the other, a line each as JSON."""
    texts, program = tmp_path / "texts", tmp_path / "editor.py"
    program.write_text(
        "import json, pathlib, sys\n"
        f"texts = pathlib.Path({str(texts)!r})\n"
        "first, *rest = texts.read_text().splitlines()\n"
        "texts.write_text('\\n'.join(rest))\n"
        "if first != 'null': pathlib.Path(sys.argv[1]).write_text(json.loads(first))\n"
        "sys.exit(not first.startswith(('n', '\"')))\n"
    )
    monkeypatch.setenv("EDITOR", f"{sys.executable} -S {program}")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr("toolcrib.cli.edit.at_terminal", lambda: True)
    return texts


def leave(editor: Path, *texts: str | None) -> None:
    editor.write_text("\n".join(map(json.dumps, texts)))


def test_what_an_editor_leaves_is_taken_once_it_can_be_used(
    run: Run, editor: Path, monkeypatch: pytest.MonkeyPatch
):
    write(a=ENTRY)
    asked: list[str] = []
    monkeypatch.setattr("typer.confirm", lambda words, **_: not asked.append(words))
    good = {**ENTRY, "call_timeout_s": 5}
    leave(editor, "{", "[]", '{"command": 3}', json.dumps(good))
    ran = run("edit", "a", "--no-start")
    assert ran.code == 0
    assert len(asked) == 3
    assert "not JSON" in ran.err
    assert entry() == good


def test_who_gives_up_keeps_what_was_written(
    run: Run, editor: Path, monkeypatch: pytest.MonkeyPatch
):
    write(a=ENTRY)
    monkeypatch.setattr("typer.confirm", lambda *_words, **_: False)
    leave(editor, '{"command": "half')
    ran = run("edit", "a")
    kept = Path(str(ran.error).rpartition(" ")[2])
    assert kept.read_text() == '{"command": "half'
    assert kept.stat().st_mode & 0o077 == 0
    kept.unlink()
    assert entry() == ENTRY


def test_an_editor_that_changes_nothing_or_is_not_there(
    run: Run, editor: Path, monkeypatch: pytest.MonkeyPatch
):
    write(a=ENTRY)
    leave(editor, None)
    assert "is as it was" in run("edit", "a").out
    monkeypatch.setenv("EDITOR", "there-is-no-such-editor")
    assert "set EDITOR" in str(run("edit", "a").error)
    assert entry() == ENTRY


def test_two_at_once_do_not_overwrite_each_other(
    run: Run, editor: Path, monkeypatch: pytest.MonkeyPatch
):
    """What another has written while the editor was open stays, and so does ours."""
    write(a=ENTRY)
    monkeypatch.setattr("typer.confirm", lambda *_words, **_: False)
    meanwhile = own_servers_file()
    program = Path(editor.parent, "editor.py")
    program.write_text(
        "import pathlib, sys\n"
        'pathlib.Path(sys.argv[1]).write_text(\'{"command": "mine"}\')\n'
        f"own = pathlib.Path({str(meanwhile)!r})\n"
        "own.write_text(own.read_text().replace('pkg', 'theirs'))\n"
    )
    error = str(run("edit", "a").error)
    assert "just changed" in error
    kept = Path(error.rpartition(" ")[2])
    assert "mine" in kept.read_text()
    kept.unlink()
    assert "theirs" in own_servers_file().read_text()


def test_a_sandbox_that_gets_files_with_secrets_is_warned_of(run: Run, tmp_path: Path):
    script = tmp_path / "app" / "server.py"
    script.parent.mkdir()
    script.write_text("")
    (script.parent / ".env").write_text("KEY=x")
    run("add", "boxed", "--no-start", "--", sys.executable, str(script))
    told = f"boxed can read {script.parent / '.env'} in its sandbox"
    assert told not in run("servers").err
    edited = run("edit", "boxed", "--no-start", "--set", "isolation=bwrap")
    assert told in " ".join(edited.err.split())
    assert told in " ".join(run("servers").err.split())


@pytest.mark.parametrize("env_from", [["TOKEN", "KEY"], {"TOKEN": "MY_TOKEN", "KEY": "KEY"}])
def test_a_value_takes_the_place_of_a_variable_that_was_handed_on(run: Run, env_from: Any):
    write(a={**ENTRY, "env_from": env_from})
    run("edit", "a", "--env", "TOKEN=x", "--no-start")
    assert entry()["env"] == {"MODE": "fast", "TOKEN": "x"}
    assert [*entry()["env_from"]] == ["KEY"]
    run("edit", "a", "--env", "KEY=y", "--no-start")
    assert "env_from" not in entry()


def test_what_a_failed_start_says_to_do_repairs_it(run: Run):
    failed = run("add", "brave", "--env", "BRAVE_API_KEY", "--", *COMMAND)
    assert failed.code == 1
    assert (
        "→ set it where Toolcrib is started, or by toolcrib edit brave --env BRAVE_API_KEY=…"
        in failed.out
    )
    done = run("edit", "brave", "--env", "BRAVE_API_KEY=abc")
    assert done.code == 0, done
    assert "brave: 12 tools" in done.out
    assert run("servers", "--json").json[0]["remedy"] == ""
