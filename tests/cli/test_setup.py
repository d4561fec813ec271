"""`toolcrib setup`: the files of real clients in a home of their own, real servers, a terminal."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.client_config.configs import SECRETS, put
from tests.sources.mcp.faking import FAKE
from tests.terminal import at_terminal
from toolcrib.cli.token_costs import Saving
from toolcrib.settings import Settings, own_servers_file
from toolcrib.text import token_counter

DESKTOP, CURSOR, CODEX = (
    ".config/Claude/claude_desktop_config.json",
    ".cursor/mcp.json",
    ".codex/config.toml",
)
WORKS = {"command": sys.executable, "args": ["-S", str(FAKE)]}
BROKEN = {"command": "/no/such/server", "args": [], "env": {"TOKEN": "s3cret-token"}}
TAKEN = [
    ("take their place? [Y/n]", "\n"),
    ("Believe what the servers say of their tools? [Y/n]", "\n"),
    ("For all of them [allow]", "\n"),
]
"""What is asked for a client with servers that are new, and Enter after each."""
STAY = ("Put it back? [Y/n]", "n\n")
"""What is asked for a client that pays more than before, as with our one small server it does."""


def write(home: Path, file: str, servers: Mapping[str, Any]) -> Path:
    path = home / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": servers}, indent=2))
    return path


@pytest.fixture
def two(home: Path) -> tuple[Path, Path]:
    """Claude Desktop with a server that works and one that does not; Cursor with the first."""
    return (
        write(home, DESKTOP, {"good": WORKS, "bad": BROKEN}),
        write(home, CURSOR, {"good": WORKS}),
    )


def state() -> dict[Path, bytes]:
    """Every file that setup may write, but for logs and times of what was tried."""
    folders = own_servers_file().parent, Settings().state_folder / "takeover"
    return {each: each.read_bytes() for folder in folders for each in folder.rglob("*.json")}


def test_several_clients_at_once(run: Run, two: tuple[Path, Path]):
    told = run("setup", "--yes", "--json").json
    assert [each["client"] for each in told["clients"]] == ["claude-desktop", "cursor"]
    assert all(each["done"] for each in told["clients"])
    assert {each["server"]: bool(each["error"]) for each in told["listed"]} == {
        "good": False,
        "bad": True,
    }
    for path in two:
        assert [*json.loads(path.read_text())["mcpServers"]] == ["toolcrib"]
    assert {*json.loads(own_servers_file().read_text())["mcpServers"]} == {"good", "bad"}


def test_tokens_are_counted_on_what_the_servers_list(run: Run, two: tuple[Path, Path]):
    desktop, cursor = run("setup", "--yes", "--json").json["tokens"]
    shown = run("list", "--json").json
    assert desktop["tools"] == cursor["tools"] == sum("mcp_good_" in each["name"] for each in shown)
    listed = [
        run("show", each["name"], "--json").json for each in shown if "mcp_good_" in each["name"]
    ]
    counter = token_counter()
    alike = sum(
        counter.count(
            json.dumps(
                {
                    "name": each["name"].removeprefix("mcp_good_"),
                    "description": each["description"],
                    "parameters": each["parameters"],
                },
                ensure_ascii=False,
                separators=(",", ":"),
            )
        )
        for each in listed
    )
    assert desktop["before"] == alike
    assert desktop["uncounted"] == ["bad"]
    assert cursor["uncounted"] == []


def test_a_failing_server_is_a_note_with_what_to_do_and_no_secret(run: Run, two: tuple[Path, Path]):
    ran = run("setup", "--yes")
    assert ran.code == 1
    assert "  bad: failed" in ran.out
    assert "\nbad: " in ran.out
    assert "\n  → " in ran.out
    assert "toolcrib refresh bad" in ran.out
    assert "s3cret" not in ran.out + ran.err


def test_each_step_names_its_command_and_the_end_what_to_restart_and_try(
    run: Run, two: tuple[Path, Path]
):
    shown = run("setup", "--yes").out
    for command in ("import", "refresh", "rules list", "tokens", "doctor"):
        assert f"(toolcrib {command})" in shown
    assert "Claude Desktop: quit the application" in shown
    assert "Cursor: restart Cursor" in shown
    assert 'Try it: toolcrib search "' in shown
    assert "toolcrib import --undo" in shown


def test_a_second_run_says_what_is_as_it_was_and_changes_nothing(run: Run, home: Path):
    path = write(home, DESKTOP, {"good": WORKS})
    first = run("setup", "--yes", "--json").json
    written, before = path.read_bytes(), state()
    ran = run("setup", "--yes")
    assert ran.code == 0
    assert "Nothing to change." in ran.out
    assert "All servers are listed: 12 tools." in ran.out
    assert "Nothing was changed." in ran.out
    assert (path.read_bytes(), state()) == (written, before)
    assert run("setup", "--yes", "--json").json["tokens"] == first["tokens"]


def test_a_second_run_leaves_the_profile_of_a_client_as_it_is(run: Run, home: Path):
    path = write(home, DESKTOP, {"good": WORKS})
    settings = home / ".config" / "toolcrib" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[gateway.profiles.work]\nservers = ["*"]\n')
    run("import", "--profile", "work", "--yes", "--no-list")
    written = path.read_bytes()
    assert b'"--profile", "work"' in written
    assert run("setup", "--yes", "--json").json["clients"][0]["changes"] is False
    assert path.read_bytes() == written


def test_what_is_to_be_pasted_holds_nothing_that_a_shell_obeys(
    run: Run, home: Path, tmp_path: Path
):
    rug = tmp_path / "rug.json"
    rug.write_text(json.dumps({'$(touch /x)"; `id`': {"annotations": {"readOnlyHint": True}}}))
    write(home, DESKTOP, {"good": {**WORKS, "args": [*WORKS["args"], f"rug={rug}"]}})
    [line] = [each for each in run("setup", "--yes").out.splitlines() if "Try it" in each]
    assert not set("$`;()") & set(line)
    assert line.count('"') == 2


def test_a_second_run_tries_again_what_failed(run: Run, home: Path, tmp_path: Path):
    late = tmp_path / "late"
    write(home, DESKTOP, {"late": {"command": str(late), "args": []}})
    assert run("setup", "--yes").code == 1
    late.write_text(f"#!/bin/sh\nexec {sys.executable} -S {FAKE}\n")
    late.chmod(0o755)
    [listed] = run("setup", "--yes", "--json").json["listed"]
    assert (listed["server"], listed["tools"], listed["error"]) == ("late", 12, "")


def test_a_broken_file_costs_no_other_client(run: Run, two: tuple[Path, Path]):
    desktop, cursor = two
    desktop.write_text('{"mcpServers": {')
    ran = run("setup", "--yes")
    assert ran.code == 1
    assert str(desktop) in ran.err
    assert desktop.read_text() == '{"mcpServers": {'
    assert [*json.loads(cursor.read_text())["mcpServers"]] == ["toolcrib"]


def test_a_look_changes_nothing(run: Run, two: tuple[Path, Path]):
    before = [path.read_bytes() for path in two]
    ran = run("setup", "--dry-run")
    assert ran.code == 0
    assert '+    "toolcrib": {' in ran.out
    assert "Nothing was changed." in ran.out
    assert [path.read_bytes() for path in two] == before
    assert not own_servers_file().exists()


def test_only_the_client_that_is_named(run: Run, two: tuple[Path, Path]):
    desktop, _ = (path.read_bytes() for path in two)
    told = run("setup", "--client", "cursor", "--yes", "--json").json
    assert [each["client"] for each in told["clients"]] == ["cursor"]
    assert two[0].read_bytes() == desktop


def test_without_a_client_it_says_where_it_looked_and_how_to_go_on(run: Run, home: Path):
    ran = run("setup", "--yes")
    assert ran.code == 1
    for file in (DESKTOP, CURSOR, CODEX):
        assert str(home / file) in ran.out
    assert "toolcrib add NAME -- COMMAND" in ran.out


def test_where_nobody_can_be_asked_nothing_happens(run: Run, two: tuple[Path, Path]):
    assert "--yes" in str(run("setup").error)
    assert not own_servers_file().exists()


def test_no_secret_of_any_client_is_shown(run: Run, home: Path):
    for name in ("claude-desktop", "codex", "windsurf"):
        put(home, name)
    shown = run("setup", "--dry-run").out
    assert "toolcrib" in shown
    assert not [secret for secret in SECRETS if secret in shown]


def test_at_a_terminal_each_client_is_asked_for_and_enter_is_yes(two: tuple[Path, Path]):
    answers = [
        *TAKEN,
        ("take their place? [Y/n]", "n\n"),
    ]
    shown = at_terminal("setup", answers=answers)
    desktop, cursor = (json.loads(path.read_text())["mcpServers"] for path in two)
    assert [*desktop] == ["toolcrib"]
    assert [*cursor] == ["good"]
    assert "Nothing was changed." in shown.text
    assert [line for line in shown.text.splitlines() if "s3cret" in line] == []


def test_the_stricter_choice_is_written_down_as_rules(run: Run, home: Path):
    write(home, DESKTOP, {"good": WORKS})
    shown = at_terminal(
        "setup",
        answers=[
            ("take their place? [Y/n]", "\n"),
            ("Believe what the servers say of their tools? [Y/n]", "n\n"),
            ("For all of them [allow]", "sometimes\n"),
            ("For all of them [allow]", "each\n"),
            ("good [allow]", "ask\n"),
            STAY,
        ],
    )
    assert shown.code == 0
    entry = json.loads(own_servers_file().read_text())["mcpServers"]["good"]
    assert entry["believe_annotations"] is False
    rules = run("rules", "list", "--json").json["rules"]
    assert [(each["verdict"], each["pattern"]) for each in rules][-1] == ("ask", "good/*")


def test_a_script_says_it_by_an_option(run: Run, home: Path):
    write(home, DESKTOP, {"good": WORKS})
    told = run("setup", "--yes", "--approval", "destructive", "--json").json
    assert told["approval"] == {"good": "destructive"}
    assert run("rules", "list", "--json").json["rules"][0]["kind"] == "dangerous"


def test_by_default_all_is_called_as_before(run: Run, home: Path):
    write(home, DESKTOP, {"good": WORKS})
    assert run("setup", "--yes", "--json").json["approval"] == {"good": "allow"}
    assert run("rules", "list", "--json").json["rules"] == []
    assert run("call", "mcp_good_echo", '{"text": "hello"}').code == 0


def test_ctrl_c_at_a_question_loses_nothing(run: Run, two: tuple[Path, Path]):
    shown = at_terminal("setup", answers=[*TAKEN, ("take their place? [Y/n]", "\x03")])
    assert shown.code == 130
    assert "`toolcrib setup` goes on with the rest" in " ".join(shown.text.split())
    told = run("setup", "--yes", "--json").json
    assert [each["done"] for each in told["clients"]] == [False, True]
    assert {each["server"] for each in told["listed"]} == {"good", "bad"}


@pytest.mark.parametrize("asked", [1, 2])
@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "closed"])
def test_a_question_about_rights_that_is_not_answered_is_asked_again(
    run: Run, home: Path, asked: int, key: str
):
    """Until it is answered, no server is taken over: nothing can be called, and nothing is lost."""
    path = write(home, DESKTOP, {"good": WORKS})
    before = path.read_bytes()
    shown = at_terminal("setup", answers=[*TAKEN[:asked], (TAKEN[asked][0], key)])
    assert shown.code == 130
    assert (path.read_bytes(), own_servers_file().exists()) == (before, False)
    again = at_terminal("setup", answers=[*TAKEN[:2], (TAKEN[2][0], "ask\n"), STAY])
    assert again.code == 0
    rules = run("rules", "list", "--json").json["rules"]
    assert [(each["verdict"], each["pattern"]) for each in rules][-1] == ("ask", "good/*")


def test_an_answer_for_all_holds_for_the_clients_that_follow(run: Run, home: Path):
    write(home, DESKTOP, {"good": WORKS})
    write(home, CURSOR, {"other": {**WORKS, "args": [*WORKS["args"], "x=y"]}})
    answers = [*TAKEN[:2], (TAKEN[2][0], "ask\n"), TAKEN[0], STAY, STAY]
    assert at_terminal("setup", answers=answers).code == 0
    rules = run("rules", "list", "--json").json["rules"]
    assert {each["pattern"] for each in rules} == {"good/*", "other/*"}


def test_before_the_first_yes_it_says_who_reaches_what_and_where_secrets_go(run: Run, home: Path):
    write(home, DESKTOP, {"good": WORKS})
    shown = " ".join(at_terminal("setup", answers=[*TAKEN, STAY]).text.split())
    before, asked, _ = shown.partition("take their place?")
    assert asked
    assert "reaches all servers, not only its own" in before
    assert f"copied to {own_servers_file()} with the secrets in them (0600" in before
    assert "reaches all servers" not in run("setup", "--yes").out


def test_doubted_servers_leave_with_their_client(run: Run, home: Path):
    path = write(home, DESKTOP, {"good": WORKS})
    before = path.read_bytes()
    at_terminal("setup", answers=[TAKEN[0], (TAKEN[1][0], "n\n"), TAKEN[2], STAY])
    assert run("import", "--undo", "--yes").code == 0
    assert path.read_bytes() == before
    assert json.loads(own_servers_file().read_text())["mcpServers"] == {}


def test_a_client_that_would_pay_more_is_put_back_by_enter(run: Run, home: Path):
    path = write(home, DESKTOP, {"good": WORKS})
    before = path.read_bytes()
    shown = at_terminal("setup", answers=[*TAKEN, (STAY[0], "\n")])
    assert shown.code == 0
    assert "its own tools cost less than the gateway" in " ".join(shown.text.split())
    assert path.read_bytes() == before
    assert json.loads(own_servers_file().read_text())["mcpServers"] == {}
    assert "Nothing was changed." in shown.text
    assert "Claude Desktop: quit" not in shown.text


def test_where_nobody_is_asked_a_client_that_pays_more_has_a_remark(run: Run, home: Path):
    path = write(home, DESKTOP, {"good": WORKS})
    shown = run("setup", "--yes").out
    assert "→ toolcrib import --undo --client claude-desktop" in shown
    assert [*json.loads(path.read_text())["mcpServers"]] == ["toolcrib"]
    [counted] = run("setup", "--yes", "--json").json["tokens"]
    assert counted["before"] < counted["now"]
    assert counted["costs_more"] is True


@pytest.mark.parametrize(
    ("changed", "costs_more"),
    [
        ({}, True),
        ({"now": 100}, False),
        ({"mode": "passthrough"}, False),
        ({"uncounted": ("bad",)}, False),
        ({"before": 0}, False),
    ],
)
def test_a_client_pays_more_where_its_request_is_known_and_is_longer(
    changed: dict[str, Any], costs_more: bool
):
    saving = Saving("Cursor", "cursor", 1, 8, before=208, now=367, mode="direct")
    assert replace(saving, **changed).costs_more is costs_more


def test_ctrl_c_while_servers_start_loses_nothing(run: Run, home: Path, tmp_path: Path):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    path = write(home, DESKTOP, {"slow": {"command": str(slow), "args": []}})
    shown = at_terminal(
        "setup",
        answers=[*TAKEN, ("listing the tools of MCP servers", "\x03")],
    )
    assert shown.code == 130
    assert "goes on with the rest" in " ".join(shown.text.split())
    assert "Traceback" not in shown.text
    assert [*json.loads(path.read_text())["mcpServers"]] == ["toolcrib"]
    slow.write_text(f"#!/bin/sh\nexec {sys.executable} -S {FAKE}\n")
    [listed] = run("setup", "--yes", "--json").json["listed"]
    assert (listed["server"], listed["tools"]) == ("slow", 12)
