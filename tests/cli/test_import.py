import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.cli.conftest import NASTY, Run, unlisted
from tests.client_config.configs import CONFIGS, SECRETS, entries, every_client, ours, put
from tests.sources.mcp.faking import FAKE
from toolcrib.cli.app import app
from toolcrib.client_config import CLIENTS, client_named
from toolcrib.client_config.document import read_document
from toolcrib.errors import ConfigError
from toolcrib.settings import Settings, config_folder, own_servers_file, rules_file


@pytest.fixture
def run(run: Run) -> Run:
    return unlisted(run)


def backups() -> list[Path]:
    return sorted((Settings().state_folder / "takeover").glob("[!.]*"))


def test_every_client_has_a_config_here():
    assert {client.name for client in CLIENTS} == {*CONFIGS}


@every_client
def test_servers_go_over_the_shim_stays_and_undo_is_exact(run: Run, home: Path, name: str):
    path = put(home, name)
    path.chmod(0o640)
    (told,) = run("import", "--client", name, "--yes", "--json").json
    assert told["done"]
    assert tuple(told["moved"]) == CONFIGS[name].taken
    assert tuple(told["left"]) == CONFIGS[name].left
    assert {*ours()} == {*CONFIGS[name].taken}
    assert {*entries(name, path)} == {"toolcrib", *CONFIGS[name].left}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (told,) = run("import", "--client", name, "--undo", "--yes", "--json").json
    assert told["done"]
    assert path.read_bytes() == CONFIGS[name].text.encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert ours() == {}
    assert backups() == []


@every_client
def test_a_second_import_changes_nothing(run: Run, home: Path, name: str):
    path = put(home, name)
    run("import", "--client", name, "--yes")
    written, kept, own = path.read_bytes(), backups(), own_servers_file().read_bytes()
    (told,) = run("import", "--client", name, "--yes", "--json").json
    assert not told["changes"]
    assert (path.read_bytes(), backups(), own_servers_file().read_bytes()) == (written, kept, own)


@every_client
def test_what_is_shown_holds_no_secret_and_dry_run_writes_nothing(run: Run, home: Path, name: str):
    path = put(home, name)
    ran = run("import", "--client", name, "--dry-run")
    assert ran.code == 0
    assert "toolcrib" in ran.out
    assert not [secret for secret in SECRETS if secret in ran.out]
    assert path.read_bytes() == CONFIGS[name].text.encode()
    assert not own_servers_file().exists()
    assert backups() == []


def test_without_a_client_all_that_are_found_are_taken_one_after_the_other(run: Run, home: Path):
    paths = {name: put(home, name) for name in CONFIGS}
    told = run("import", "--yes", "--json").json
    assert [each["client"] for each in told] == list(CONFIGS)
    by_name = {each["client"]: each for each in told}
    assert by_name["claude-code"]["moved"]["files"] == "files-claude-code"  # another program
    assert by_name["zed"]["moved"]["files"] == "files-claude-code"  # the same one
    assert "files-claude-code" in by_name["zed"]["known"]
    assert by_name["opencode"]["moved"]["tickets"] == "tickets"
    assert all(each["done"] for each in run("import", "--undo", "--yes", "--json").json)
    assert all(paths[name].read_text() == config.text for name, config in CONFIGS.items())
    assert ours() == {}


def test_a_server_that_another_client_shares_outlives_an_undo(run: Run, home: Path):
    put(home, "claude-code")
    put(home, "opencode")
    run("import", "--yes")
    (told,) = run("import", "--client", "claude-code", "--undo", "--yes", "--json").json
    assert told["stay"] == {"tickets": "another client uses it too"}
    assert {*ours()} == {"tickets", "search"}


def test_a_server_that_was_changed_here_outlives_an_undo(run: Run, home: Path):
    put(home, "cursor")
    run("import", "--yes")
    run("remove", "home")
    run("remove", "browser")
    run("add", "browser", "--no-start", "--", "another")
    (told,) = run("import", "--undo", "--yes", "--json").json
    assert (told["removed"], {*told["stay"]}) == (["tickets"], {"browser"})
    assert {*ours()} == {"browser"}


def test_undo_of_a_changed_file_is_refused_shown_and_forced(run: Run, home: Path):
    path = put(home, "cursor")
    run("import", "--yes")
    changed = path.read_text().replace('"here"', '"renamed"')
    path.write_text(changed)
    ran = run("import", "--undo", "--yes")
    assert isinstance(ran.error, ConfigError)
    assert "--force" in str(ran.error)
    assert '+    "renamed"' in ran.out
    assert path.read_text() == changed
    (told,) = run("import", "--undo", "--force", "--yes", "--json").json
    assert path.read_text() == CONFIGS["cursor"].text
    assert Path(told["replaced"]).read_text() == changed
    assert stat.S_IMODE(Path(told["replaced"]).stat().st_mode) == 0o600


@every_client
def test_what_else_was_changed_meanwhile_outlives_an_undo(run: Run, home: Path, name: str):
    """Claude Code writes its history into the file all day long, and rewrites it whole."""
    path = put(home, name)
    before = entries(name, path)
    run("import", "--client", name, "--yes")
    text = path.read_text()
    changed = f"later = 1\n{text}" if name == "codex" else text.replace("{", '{"later": 1,', 1)
    path.write_text(changed)
    (told,) = run("import", "--undo", "--yes", "--json").json
    assert (told["changed"], told["done"]) == ("the rest", True)
    assert entries(name, path) == before
    assert read_document(path.read_text(), client_named(name).syntax)["later"] == 1
    assert ours() == {}


def test_undo_goes_back_step_by_step_and_then_there_is_nothing(run: Run, home: Path):
    path = put(home, "cursor")
    run("import", "--yes")
    between = path.read_text().replace("{\n", '{\n  "other": 1,\n', 1)
    between = between.replace('    "here"', '    "new": { "command": "new" },\n    "here"')
    path.write_text(between)
    run("import", "--yes")
    assert "new" in ours()
    run("import", "--undo", "--yes")
    assert path.read_text() == between
    ran = run("import", "--undo", "--yes")  # the file is no longer what the first import left
    assert "were changed after the import" in str(ran.error)
    run("import", "--undo", "--yes", "--force")
    assert path.read_text() == CONFIGS["cursor"].text
    assert "nothing to undo" in str(run("import", "--undo", "--yes").error)


def test_a_file_that_is_not_there_is_made_and_undone(run: Run, home: Path):
    run("import", "--client", "gemini-cli", "--yes")
    path = home / ".gemini" / "settings.json"
    assert {*entries("gemini-cli", path)} == {"toolcrib"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    run("import", "--undo", "--yes")
    assert not path.exists()


def test_a_link_is_followed_and_stays_one(run: Run, home: Path, tmp_path: Path):
    real = tmp_path / "dotfiles.json"
    real.write_text(CONFIGS["cursor"].text)
    link = home / CONFIGS["cursor"].file
    link.parent.mkdir()
    link.symlink_to(real)
    run("import", "--yes")
    assert link.is_symlink()
    assert "toolcrib" in real.read_text()
    run("import", "--undo", "--yes")
    assert link.is_symlink()
    assert real.read_text() == CONFIGS["cursor"].text


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("cursor", '{"mcpServers": {', "line 1"),
        ("cursor", "[]", "an object at the top"),
        ("cursor", '{"mcpServers": [1]}', "is not an object"),
        ("cursor", '{"mcpServers": {"a": {}, "a": {}}}', "stands there twice"),
        ("cursor", "{" * 5000, "line 1"),
        ("codex", "[mcp_servers", "not TOML"),
        ("codex", "mcp_servers = 3", "is not an object"),
        ("codex", 'mcp_servers = { a = { command = "x" } }', "a table of its own"),
        ("gemini-cli", '{"mcp": {"allowed": ["a"]}, "mcpServers": {}}', "keeps the gateway out"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_left_alone(
    run: Run, home: Path, name: str, text: str, said: str
):
    path = put(home, name)
    path.write_text(text)
    ran = run("import", "--client", name, "--yes")
    assert isinstance(ran.error, ConfigError)
    assert str(path) in str(ran.error)
    assert said in str(ran.error)
    assert path.read_text() == text
    assert not own_servers_file().exists()
    assert backups() == []


def test_bytes_that_are_no_text_are_refused(run: Run, home: Path):
    path = put(home, "cursor")
    path.write_bytes(b'{\n"a": "\xff"}')
    assert f"{path}:2: is not UTF-8" in str(run("import", "--client", "cursor", "--yes").error)


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_what_a_strangers_file_says_is_shown_and_never_obeyed(
    run: Run, tmp_path: Path, option: tuple[str, ...]
):
    entry = {"command": NASTY, "args": [NASTY], NASTY: 1}
    servers = {NASTY: entry, f"{NASTY}2": {"type": NASTY}}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}, ensure_ascii=False))
    ran = run("import", "--project", str(tmp_path), "--dry-run", *option)
    assert ran.code == 0
    assert "[bold red]Fill" in ran.out
    assert not set(ran.out) & set("\x1b\x07\r\x9b\u202e")


def test_one_broken_file_costs_no_other(run: Run, home: Path):
    put(home, "cursor").write_text("nonsense")
    put(home, "zed")
    ran = run("import", "--yes", "--json")
    assert ran.code == 1
    assert [each["client"] for each in ran.json] == ["zed"]
    assert ".cursor/mcp.json" in ran.err


def test_our_own_file_that_cannot_be_used_keeps_the_client_as_it_is(run: Run, home: Path):
    path = put(home, "cursor")
    own_servers_file().parent.mkdir(parents=True)
    own_servers_file().write_text("nonsense")
    assert isinstance(run("import", "--client", "cursor", "--yes").error, ConfigError)
    assert path.read_text() == CONFIGS["cursor"].text
    assert own_servers_file().read_text() == "nonsense"


def test_a_byte_order_mark_and_other_line_ends_survive(run: Run, home: Path):
    path = put(home, "vscode")
    text = "\ufeff" + CONFIGS["vscode"].text.replace("\n", "\r\n")
    path.write_bytes(text.encode())
    run("import", "--yes")
    written = path.read_bytes().decode()
    assert written.startswith("\ufeff{\r\n")
    assert written.count("\n") == written.count("\r\n")
    run("import", "--undo", "--yes")
    assert path.read_bytes() == text.encode()


def test_nobody_to_ask_is_an_error_with_the_remedy(run: Run, home: Path):
    put(home, "cursor")
    for options in ([], ["--json"], ["--undo"]):
        ran = run("import", *options)
        assert isinstance(ran.error, ConfigError)
        assert "--yes" in str(ran.error)


@pytest.mark.parametrize(("answer", "done"), [("y\n\n\n\n", True), ("n\n", False), ("\n", False)])
def test_at_a_terminal_the_person_is_asked(
    home: Path, monkeypatch: pytest.MonkeyPatch, answer: str, done: bool
):
    path = put(home, "cursor")
    monkeypatch.setattr("toolcrib.cli.consent.at_terminal", lambda: True)
    result = CliRunner().invoke(app, ["import", "--no-list"], input=answer)
    assert result.exit_code == 0
    assert "Change both files?" in result.output
    assert ('"toolcrib"' in path.read_text()) is done


def rules() -> list[dict[str, str]]:
    return json.loads(rules_file().read_text())["rules"] if rules_file().exists() else []


ASKS = [
    {"verdict": "allow", "pattern": "tickets/*", "kind": "read"},
    {"verdict": "ask", "pattern": "tickets/*"},
]
ASKS_DESTRUCTIVE = [
    {"verdict": "ask", "pattern": "tickets/*", "kind": "dangerous"},
    {"verdict": "allow", "pattern": "tickets/*"},
]


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("\n", []),
        ("allow\n", []),
        ("ask\n", ASKS),
        ("destructive\n", ASKS_DESTRUCTIVE),
        ("everything\nask\n", ASKS),
    ],
)
def test_at_a_terminal_each_new_server_is_asked_about_once(
    home: Path, monkeypatch: pytest.MonkeyPatch, typed: str, written: list[dict[str, str]]
):
    put(home, "cursor")
    names = CONFIGS["cursor"].taken
    monkeypatch.setattr("toolcrib.cli.consent.at_terminal", lambda: True)
    answers = "".join(typed if name == "tickets" else "\n" for name in names)
    done = CliRunner().invoke(app, ["import", "--no-list"], input=f"y\n{answers}")
    assert done.exit_code == 0, done.output
    assert rules() == written
    assert "`tool_call`" in done.output
    again = CliRunner().invoke(app, ["import", "--no-list"], input="")
    assert "without your approval" not in again.output


def test_a_server_that_nobody_has_answered_for_is_not_imported(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    path = put(home, "cursor")
    before = path.read_bytes()
    monkeypatch.setattr("toolcrib.cli.consent.at_terminal", lambda: True)
    stopped = CliRunner().invoke(app, ["import", "--no-list"], input="y\nask\n")
    assert stopped.exit_code == 1
    assert "without your approval" in stopped.output
    assert (path.read_bytes(), own_servers_file().exists(), rules()) == (before, False, [])


@pytest.mark.parametrize("approval", ["allow", "destructive", "ask"])
def test_without_a_terminal_an_option_says_what_new_servers_may_do(
    run: Run, home: Path, approval: str
):
    put(home, "cursor")
    (told,) = run("import", "--yes", "--approval", approval, "--json").json
    assert told["approval"] == dict.fromkeys(told["added"], approval)
    kept = [each for each in rules() if each["pattern"] == "tickets/*"]
    assert kept == {"allow": [], "destructive": ASKS_DESTRUCTIVE, "ask": ASKS}[approval]
    assert run("import", "--yes", "--approval", "everything").code == 2


def test_without_a_word_new_servers_may_do_what_is_set(run: Run, home: Path):
    put(home, "cursor")
    config_folder().mkdir(parents=True)
    (config_folder() / "config.toml").write_text('[approval]\nservers = "ask"\n')
    (told,) = run("import", "--yes", "--json").json
    assert {*told["approval"].values()} == {"ask"}
    assert rules() == []


def test_what_changes_is_said_where_it_happens(run: Run, home: Path):
    put(home, "cursor")
    assert "now it asks about `tool_call`" in run("import", "--yes").out
    assert "tool_call" not in run("import", "--yes").out


def test_no_client_and_an_unknown_one_are_told(run: Run):
    assert "claude-desktop" in str(run("import", "--yes").error)
    assert "nearest: cursor" in str(run("import", "--client", "cursr", "--yes").error)


def test_a_file_that_we_read_ourselves_is_refused(run: Run, home: Path):
    path = put(home, "cursor")
    ran = run("--mcp-config", str(path), "import", "--yes")
    assert "mcp_config" in str(ran.error)
    assert path.read_text() == CONFIGS["cursor"].text


def test_the_shim_sees_what_the_import_saw(run: Run, home: Path, tmp_path: Path):
    path = put(home, "cursor")
    config = tmp_path / "my.toml"
    config.write_text("[gateway.profiles.web]\nservers = ['browser']\n")
    assert run("--config", str(config), "import", "--profile", "wev", "--yes").error
    run("--config", str(config), "import", "--profile", "web", "--yes")
    shim = entries("cursor", path)["toolcrib"]
    assert shim["args"] == ["--config", str(config), "connect", "--profile", "web"]
    assert Path(shim["command"]).is_absolute()


def test_a_shim_that_has_moved_is_put_right(run: Run, home: Path):
    path = put(home, "cursor")
    run("import", "--yes")
    written = path.read_text()
    path.write_text(written.replace(entries("cursor", path)["toolcrib"]["command"], "/x/toolcrib"))
    assert run("import", "--yes", "--json").json[0]["done"]
    assert path.read_text() == written


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "toolcrib", "args": ["serve", "--stdio"]},
        {"command": "uvx", "args": ["toolcrib", "connect"]},
        {"command": "/usr/bin/python3.11", "args": ["-m", "toolcrib.cli", "connect"]},
    ],
)
def test_a_gateway_that_was_put_there_by_hand_becomes_the_shim(run: Run, home: Path, entry: Any):
    path = put(home, "cursor")
    path.write_text(json.dumps({"mcpServers": {"tools": entry}}))
    (told,) = run("import", "--yes", "--json").json
    assert (told["moved"], told["done"]) == ({}, True)
    assert {*entries("cursor", path)} == {"toolcrib"}


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "toolcrib-like", "args": ["connect"]},
        {"command": "npx", "args": ["toolcrib", "connect"]},
        {"command": "python", "args": ["-m", "other", "connect"]},
    ],
)
def test_what_only_looks_like_it_is_a_server_like_any_other(run: Run, home: Path, entry: Any):
    put(home, "cursor").write_text(json.dumps({"mcpServers": {"tools": entry}}))
    assert [*run("import", "--yes", "--json").json[0]["moved"]] == ["tools"]


def test_a_gateway_by_its_address_does_not_get_behind_itself(run: Run, home: Path):
    path = put(home, "cursor")
    entry = {"url": "http://127.0.0.1:8000/mcp", "headers": {"Authorization": "Bearer x"}}
    path.write_text(json.dumps({"mcpServers": {"toolcrib": entry, "a": {"command": "x"}}}))
    (told,) = run("import", "--yes", "--json").json
    assert "the gateway itself" in told["left"]["toolcrib"]
    assert entries("cursor", path) == {"toolcrib": entry}
    assert {*ours()} == {"a"}


def test_a_projects_file_names_no_path_of_this_machine(run: Run, tmp_path: Path):
    path = tmp_path / ".vscode" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"servers": {"a": {"command": "node", "args": ["${workspaceFolder}/a.js"]}}}')
    (told,) = run("import", "--project", str(tmp_path), "--yes", "--json").json
    assert (told["client"], told["done"]) == ("vscode", True)
    assert entries("vscode", path)["toolcrib"]["command"] == "toolcrib"
    assert ours()["a"] == {
        "command": "node",
        "args": [f"{tmp_path}/a.js"],
        "cwd": str(tmp_path),
    }
    run("import", "--project", str(tmp_path), "--undo", "--yes")
    assert "workspaceFolder" in path.read_text()


def test_opencode_writes_where_its_second_version_keeps_servers(run: Run, home: Path):
    path = put(home, "opencode")
    entry = '{"type": "local", "command": ["x"], "disabled": true}'
    path.write_text('{"mcp": {"timeout": 5, "servers": {"a": %s}}}' % entry)  # noqa: UP031
    run("import", "--yes")
    assert ours() == {"a": {"command": "x", "disabled": True}}
    written = json.loads(path.read_text())["mcp"]
    assert ({*written["servers"]}, written["timeout"]) == ({"toolcrib"}, 5)


def test_a_backup_is_for_the_owner_alone(run: Run, home: Path):
    put(home, "windsurf")
    run("import", "--yes")
    (kept,) = backups()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def test_imported_servers_are_listed_and_reviewed_like_any_other(run: Run, home: Path):
    path = put(home, "cursor")
    fake = {"command": sys.executable, "args": ["-S", str(FAKE)]}
    path.write_text(json.dumps({"mcpServers": {"fake": fake}}))
    run("import", "--yes")
    run("refresh")
    assert run("search", "select:mcp_fake_echo", "--json").json["hits"][0]["state"] == "asleep"
