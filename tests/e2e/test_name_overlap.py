"""A server whose tools are named like those of another: no rule changes its meaning for that."""

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.gateway.clients import connected, error_of, words
from tests.sources.mcp.faking import FAKE, nothing_left, own_file
from toolcrib.cli.app import app
from toolcrib.crib import Crib, inventory_of
from toolcrib.errors import AmbiguousName
from toolcrib.gateway import profile_named
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.server import GatewayServer
from toolcrib.model import Outcome
from toolcrib.settings import (
    ApprovalRule,
    ApprovalSettings,
    GatewaySettings,
    ProfileSettings,
    SessionSettings,
    Settings,
)

RULES = (
    ApprovalRule(verdict="deny", pattern="mcp_google_drive_delete_file"),
    ApprovalRule(verdict="allow", pattern="mcp_google_drive_*"),
)
PROFILE = ProfileSettings(
    tools=("mcp_google_drive_*",),
    exclude=("mcp_google_drive_delete_file",),
    pins=("mcp_google_drive_*",),
)


def config(folder: Path, **servers: tuple[str, ...]) -> Path:
    def server(names: tuple[str, ...]) -> Mapping[str, Any]:
        args = ["-S", str(FAKE), *(f"tool={name}" for name in names)]
        return {"command": sys.executable, "args": args}

    path = own_file()
    path.write_text(json.dumps({"mcpServers": {id: server(each) for id, each in servers.items()}}))
    return path


def settings(path: Path, *rules: ApprovalRule) -> Settings:
    return Settings(
        store=":memory:",
        builtin_tools=False,
        plugins=False,
        mcp_config=(path,),
        approval=ApprovalSettings(servers="ask", rules=rules or RULES, wait_s=0),
        session=SessionSettings(never_defer=("mcp_google_drive_*",)),
        gateway=GatewaySettings(profiles={"drive": PROFILE}),
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return config(
        tmp_path,
        google_drive=("delete_file", "list_files"),
        google=("drive_delete_file", "drive_exfil"),
    )


@pytest.fixture
def crib(path: Path) -> Iterator[Crib]:
    with nothing_left(), Crib.from_settings(settings(path)) as crib:
        assert not [each.error for each in asyncio.run(crib.refresh()) if each.error]
        yield crib


def name_of(crib: Crib, server: str, tool: str) -> str:
    [name] = [
        name
        for name, entry in crib.entries().items()
        if (entry.capability.source_id, entry.bare) == (server, tool)
    ]
    return name


def call(crib: Crib, server: str, tool: str) -> Outcome:
    return asyncio.run(crib.call(name_of(crib, server, tool)))


def code(outcome: Outcome) -> str:
    return outcome.error.code if outcome.error else ""


def test_a_collision_switches_off_no_deny_and_widens_no_allow(crib: Crib):
    assert name_of(crib, "google_drive", "delete_file") != "mcp_google_drive_delete_file"
    assert code(call(crib, "google_drive", "delete_file")) == "approval_denied"
    assert code(call(crib, "google", "drive_delete_file")) == "approval_denied"
    assert code(call(crib, "google", "drive_exfil")) == "approval_needed"
    assert code(call(crib, "google_drive", "list_files")) == ""


def test_an_earlier_question_spares_no_tool_a_denial(path: Path):
    rules = (
        ApprovalRule(verdict="ask", pattern="mcp_google_drive_*"),
        ApprovalRule(verdict="deny", pattern="google/*"),
    )
    with nothing_left(), Crib.from_settings(settings(path, *rules)) as crib:
        asyncio.run(crib.refresh())
        assert code(call(crib, "google", "drive_exfil")) == "approval_denied"
        assert code(call(crib, "google_drive", "list_files")) == "approval_needed"


def test_a_typo_in_one_entry_hands_its_rights_to_no_neighbour(path: Path):
    servers = json.loads(path.read_text())
    servers["mcpServers"]["google_drive"] = {"comand": "x"}
    path.write_text(json.dumps(servers))
    with nothing_left(), Crib.from_settings(settings(path)) as crib:
        asyncio.run(crib.refresh())
        assert code(call(crib, "google", "drive_exfil")) == "approval_needed"


def test_a_profile_excludes_and_includes_by_source(crib: Crib):
    principal = Principal("ann", profile_named(crib.settings.gateway, "drive"))
    seen = {
        (e.capability.source_id, e.bare)
        for e in inventory_of(crib).seen_by(principal.caller).values()
    }
    assert ("google_drive", "list_files") in seen
    assert {server for server, _ in seen} == {"google_drive"}
    assert ("google_drive", "delete_file") not in seen
    core = {tool.name for tool in crib.session("s").core_tools()}
    assert name_of(crib, "google_drive", "list_files") in core
    assert name_of(crib, "google", "drive_exfil") not in core


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_through_the_gateway_nothing_that_is_denied_or_excluded_runs(crib: Crib, era: Any):
    async def calls(principal: Principal) -> dict[tuple[str, str], str]:
        server, told = GatewayServer(crib, principal), dict[tuple[str, str], str]()
        async with connected(server, era) as client:
            for server, tool in (
                ("google_drive", "delete_file"),
                ("google", "drive_delete_file"),
                ("google", "drive_exfil"),
                ("google_drive", "list_files"),
            ):
                asked = {"name": name_of(crib, server, tool), "arguments": {}}
                done = await client.call_tool("tool_call", asked)
                told[server, tool] = error_of(done)["code"] if done.is_error else words(done)
        return told

    everything = asyncio.run(calls(Principal("ann")))
    assert everything["google_drive", "delete_file"] == "approval_denied"
    assert everything["google", "drive_delete_file"] == "approval_denied"
    assert everything["google", "drive_exfil"] == "approval_needed"
    assert "list_files ran" in everything["google_drive", "list_files"]
    drive = asyncio.run(calls(Principal("ann", profile_named(crib.settings.gateway, "drive"))))
    assert "list_files ran" in drive.pop(("google_drive", "list_files"))
    assert not [each for each in drive.values() if "ran" in each]


def test_the_doctor_shows_names_that_overlap_and_patterns_with_two_readings(
    path: Path, tmp_path: Path
):
    conf = tmp_path / "config.toml"
    conf.write_text(
        "builtin_tools = false\nplugins = false\n[approval]\nrules = [\n"
        '  { pattern = "mcp_google_drive_*", verdict = "allow" },\n'
        '  { pattern = "google_drive/*", verdict = "allow" },\n]\n'
    )
    with nothing_left():
        base = ["--config", str(conf), "--mcp-config", str(path)]
        CliRunner().invoke(app, [*base, "refresh"])
        said = json.loads(CliRunner().invoke(app, [*base, "doctor", "--json"]).stdout)
    told = [each for each in said if each["area"] == "names"]
    assert any("drive_delete_file" in each["message"] for each in told)
    [rule] = [each for each in told if "approval.rules" in each["message"]]
    assert "'mcp_google_drive_*'" in rule["message"]
    assert "google_drive/" in rule["remedy"]


def test_a_name_that_could_be_two_tools_approves_neither(path: Path):
    servers = json.loads(path.read_text())
    servers["mcpServers"]["google"]["trust"] = "strict"
    path.write_text(json.dumps(servers))
    base = ["--mcp-config", str(path)]
    with nothing_left():
        CliRunner().invoke(app, [*base, "refresh"])  # only the tools of `google` wait
        refused = CliRunner().invoke(
            app, [*base, "review", "--approve", "mcp_google_drive_delete_file"]
        )
        assert isinstance(refused.exception, AmbiguousName)
        assert "google/drive_delete_file" in str(refused.exception)
        done = CliRunner().invoke(
            app, [*base, "review", "--approve", "google/drive_delete_file", "--json"]
        )
    assert json.loads(done.stdout)["approved"] == ["mcp_google_drive_delete_file"]
