"""Commands that list tools: a gateway that runs does it, and shows it at once."""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran, Run
from tests.gateway.live_daemon import LiveDaemon, entry, pid_of
from tests.sources.mcp.faking import FAKE, nothing_left
from tests.waiting import until_async
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.refresh import list_servers, waiting_line
from toolcrib.crib import inventory_of
from toolcrib.gateway.daemon import Daemon
from toolcrib.sources.mcp import RefreshResult
from toolcrib.system import RUN_FOLDER_VARIABLE

Command = Callable[..., Coroutine[Any, Any, Ran]]
Scenario = Callable[[Daemon, Command], Coroutine[Any, Any, None]]
FAKE_COMMAND = ("--", sys.executable, "-S", str(FAKE))
CLAUDE = Path(".config/Claude/claude_desktop_config.json")


@pytest.fixture
def live(tmp_path: Path) -> LiveDaemon:
    return LiveDaemon(tmp_path)


@pytest.fixture
def beside(
    live: LiveDaemon, run: Run, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Scenario], None]:
    """Runs a scenario beside a gateway of these files, with the command line at hand."""
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(live.folder / "run"))

    async def command(*words: str) -> Ran:
        return await asyncio.to_thread(run, *words)

    async def served(scenario: Scenario) -> None:
        async with live.serving() as daemon:
            await scenario(daemon, command)

    def begin(scenario: Scenario) -> None:
        with nothing_left():
            asyncio.run(served(scenario))

    return begin


def test_a_gateway_has_what_is_added_at_once_and_loses_what_is_removed(
    beside: Callable[[Scenario], None],
):
    async def scenario(daemon: Daemon, command: Command) -> None:
        crib = daemon.serving.crib
        ran = await command("add", "a", *FAKE_COMMAND)
        assert ran.code == 0
        assert "a: 12 tools" in ran.out
        assert (
            inventory_of(crib).servers["a"].status().state == "ready"
        )  # it was not started elsewhere
        assert "mcp_a_echo" in crib.entries()
        await command("add", "later", "--no-start", *FAKE_COMMAND)
        assert "later" in inventory_of(crib).servers
        await command("remove", "a")
        assert "a" not in inventory_of(crib).servers
        assert "mcp_a_echo" not in crib.entries()

    beside(scenario)


def test_refresh_is_the_gateways_and_tells_of_each(
    live: LiveDaemon, beside: Callable[[Scenario], None]
):
    live.write(
        {
            "a": entry(),
            "bad": {"command": "no-such-command"},
            "off": {"command": "x", "disabled": True},
        }
    )

    async def scenario(daemon: Daemon, command: Command) -> None:
        await until_async(lambda: "mcp_a_echo" in daemon.serving.crib.entries())
        live.servers.write_text(live.servers.read_text())
        ran = await command("refresh")
        assert ran.code == 1
        assert "a: 12 tools" in ran.out
        assert "\nbad: 'no-such-command' cannot be started" in ran.out
        assert "then run toolcrib refresh bad" in ran.out
        assert "off" not in ran.out
        assert [each["server"] for each in (await command("refresh", "a", "--json")).json] == ["a"]
        both = (await command("refresh", "bad", "a", "--json")).json
        assert {each["server"] for each in both} == {"a", "bad"}
        assert "nearest: a" in str((await command("refresh", "aa")).error)

    beside(scenario)


def test_servers_asks_the_gateway(live: LiveDaemon, beside: Callable[[Scenario], None], run: Run):
    live.write({"a": entry(), "bad": {"command": "no-such-command"}})

    async def scenario(daemon: Daemon, command: Command) -> None:
        await until_async(lambda: "mcp_a_echo" in daemon.serving.crib.entries())
        await pid_of(daemon, "a")
        await until_async(lambda: inventory_of(daemon.serving.crib).servers["bad"].status().failure)
        a, bad = (await command("servers", "--json")).json
        assert (a["state"], a["tools"], a["failure"], a["remedy"]) == ("ready", 12, None, "")
        assert a["memory_bytes"] > 1_000_000
        assert bad["failure"]["code"] == "not_started"
        assert bad["remedy"].endswith("then run toolcrib refresh bad")
        shown = (await command("servers")).out
        assert "then run toolcrib refresh bad" in shown
        assert "No gateway" not in shown

    beside(scenario)
    assert "No gateway runs" in run("servers").out


@pytest.mark.parametrize("runs", [True, False])
def test_import_lists_the_tools_of_what_it_takes(
    home: Path, beside: Callable[[Scenario], None], run: Run, *, runs: bool
):
    claude = home / CLAUDE
    claude.parent.mkdir(parents=True)
    good, bad = entry(), {"command": "no-such-command"}
    del good["permission"]
    claude.write_text(json.dumps({"mcpServers": {"good": good, "bad": bad}}))

    async def scenario(daemon: Daemon, command: Command) -> None:
        ran = await command("import", "--client", "claude-desktop", "--yes")
        told(ran)
        assert "mcp_good_echo" in daemon.serving.crib.entries()

    def told(ran: Ran) -> None:
        assert ran.code == 0
        assert "good: 12 tools" in ran.out
        assert "\nbad: 'no-such-command'" in ran.out
        assert "Ready: 12 tools of 1 server; 1 to be looked at" in ran.out
        assert "gateway reload" not in ran.out

    if runs:
        beside(scenario)
    else:
        told(run("import", "--client", "claude-desktop", "--yes"))
        assert run("search", "select:mcp_good_echo", "--json").json["hits"]


def test_import_may_leave_the_listing_out_and_says_it_as_json(home: Path, run: Run):
    claude = home / CLAUDE
    claude.parent.mkdir(parents=True)
    good = entry()
    del good["permission"]
    claude.write_text(json.dumps({"mcpServers": {"good": good}}))
    asked = ("import", "--client", "claude-desktop", "--yes", "--json")
    (first,) = run(*asked, "--no-list").json
    assert first["listed"] == []
    run("import", "--client", "claude-desktop", "--undo", "--yes")
    (again,) = run(*asked).json
    assert [(each["server"], each["tools"]) for each in again["listed"]] == [("good", 12)]


def test_no_copy_keeps_the_secrets_of_a_server_that_was_removed(home: Path, run: Run):
    def copies() -> bytes:
        found = (home / ".local/state/toolcrib/last_good").iterdir()
        return b"".join(path.read_bytes() for path in found)

    run("add", "a", "--env", "TOKEN=s3cret", *FAKE_COMMAND)
    assert b"s3cret" in copies()
    run("remove", "a")
    assert b"s3cret" not in copies()


@pytest.mark.parametrize("runs", [True, False])
def test_meanwhile_one_hears_what_the_others_are_at(
    live: LiveDaemon, beside: Callable[[Scenario], None], *, runs: bool
):
    live.write({"a": entry(), "slow": entry("hang-initialize", start_timeout_s=3)})
    heard: list[tuple[str, str]] = []

    def listing() -> list[RefreshResult]:
        return list_servers(GlobalOptions(), on_progress=lambda doing: heard.extend(doing.items()))

    async def scenario(_daemon: Daemon, _command: Command) -> None:
        done.extend(await asyncio.to_thread(listing))

    done: list[RefreshResult] = []
    beside(scenario) if runs else done.extend(listing())
    assert [(each.server, bool(each.error)) for each in done] == [("a", False), ("slow", True)]
    assert any(name == "slow" and "starting" in words for name, words in heard)


def test_a_line_names_the_first_few_and_counts_the_rest():
    doing = {"a": "installing by npx (35 s)", "b": "starting (1 s)", "c": "", "d": ""}
    assert waiting_line(doing) == "a: installing by npx (35 s); b: starting (1 s); 2 more"
    assert waiting_line({"c": ""}) == "c: is waited for"
