"""The tools that come with Toolcrib, as a client of the gateway has them: hardly."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError

from tests.gateway.clients import ERAS, Era, asked, connected, error_of, words
from tests.gateway.daemons import bare, call, files_in, new_key, serving
from toolcrib.crib import Crib
from toolcrib.errors import ConfigError
from toolcrib.gateway import keys_in, profile_named
from toolcrib.gateway import server as window_module
from toolcrib.gateway.credentials import AccessDenied, Authenticator
from toolcrib.gateway.principal import LOCAL_USER, Principal, Profile
from toolcrib.gateway.server import GatewayServer, GatewayServers
from toolcrib.settings import Settings, load_settings, own_servers_file

ON = {"profiles": {"default": {"builtin_tools": True}}}
ALLOWED = {"rules": [{"verdict": "allow"}]}


def settings_of(**others: Any) -> Settings:
    return bare(builtin_tools=True, approval=ALLOWED, **{"gateway": ON, **others})


def tried(
    settings: Settings,
    principal: str,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    roots: list[str] | None = None,
    era: Era = "legacy",
) -> types.CallToolResult:
    """What one call gives, of a client that declares these roots; None declares none."""

    async def said(_context: Any) -> types.ListRootsResult:
        uris = [{"uri": uri} for uri in roots or ()]
        return types.ListRootsResult.model_validate({"roots": uris})

    async def scenario() -> types.CallToolResult:
        with Crib.from_settings(settings) as crib:
            server = GatewayServer(crib, Principal(principal, profile_named(settings.gateway)))
            more: dict[str, Any] = {} if roots is None else {"list_roots_callback": said}
            async with connected(server, era, **more) as client:
                return await client.call_tool(
                    "tool_call", {"name": tool, "arguments": dict(arguments)}
                )

    return asked(scenario)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "work" / "file.txt"
    path.parent.mkdir()
    path.write_text("inside")
    return path


def test_they_are_off_unless_a_profile_turns_them_on(file: Path):
    off = settings_of(gateway={}, file_roots=[file.parent])
    told = error_of(tried(off, LOCAL_USER, "read_file", {"path": str(file)}))
    assert told["code"] == "unknown_tool"
    on = settings_of(file_roots=[file.parent])
    assert "inside" in words(tried(on, LOCAL_USER, "read_file", {"path": str(file)}))


def test_functions_of_the_operators_own_are_on(tmp_path: Path):
    yaml = tmp_path / "tools.yaml"
    yaml.write_text("shout:\n  function: textwrap:dedent\n  permission_kind: read\n")
    settings = settings_of(gateway={}, tools=[yaml])
    assert words(tried(settings, LOCAL_USER, "shout", {"text": "  hi"})) == "hi"


@pytest.mark.parametrize("era", ERAS)
def test_the_roots_of_a_client_of_our_own_user_count(file: Path, tmp_path: Path, era: Era):
    (tmp_path / "beside").write_text("outside")
    here = [file.parent.as_uri(), "file://elsewhere/tmp"]
    settings = settings_of()
    got = tried(settings, LOCAL_USER, "read_file", {"path": "file.txt"}, roots=here, era=era)
    assert "inside" in words(got)
    beside = {"path": str(tmp_path / "beside")}
    refused = tried(settings, LOCAL_USER, "read_file", beside, roots=here, era=era)
    assert "outside the folders" in words(refused)
    assert "file_roots" in words(refused)


def test_a_client_without_roots_has_none_whatever_folder_the_daemon_runs_in(
    file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(file.parent)
    for roots in (None, []):
        told = words(
            tried(settings_of(), LOCAL_USER, "read_file", {"path": str(file)}, roots=roots)
        )
        assert "no folder here; the client can declare roots" in told
        assert "inside" not in told


def test_who_comes_with_a_key_names_no_roots(file: Path):
    asked_for = {"path": str(file)}
    told = words(tried(settings_of(), "key:ann", "read_file", asked_for, roots=["file:///"]))
    assert "no folder here" in told
    named = settings_of(file_roots=[file.parent])
    assert "inside" in words(tried(named, "key:ann", "read_file", {"path": str(file)}))


def test_the_settings_win_over_what_a_client_declares(file: Path, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    settings = settings_of(file_roots=[other])
    told = words(tried(settings, LOCAL_USER, "read_file", {"path": str(file)}, roots=["file:///"]))
    assert f"outside the folders that file tools may use ({other})" in told


@pytest.fixture
def installed(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings in a file of their own, a store and a servers file, and all of home as root."""
    run = home / "run"
    run.mkdir(mode=0o700)
    monkeypatch.setenv("TOOLCRIB_RUN_FOLDER", str(run))
    mcp = home / "project" / ".mcp.json"
    mcp.parent.mkdir()
    mcp.write_text("{}")
    config = home / "settings" / "mine.toml"
    config.parent.mkdir()
    config.write_text(
        f'store = "../stored/catalog.db"\nfile_roots = ["/"]\nmcp_config = ["{mcp}"]\n'
        'plugins = false\napproval = { rules = [{ verdict = "allow" }] }\n'
        "[gateway.profiles.default]\nbuiltin_tools = true\n[embed]\nembedder = 'none'\n"
    )
    return load_settings(os.environ, config)


def test_what_is_toolcribs_own_is_out_of_reach_even_with_all_as_root(
    installed: Settings, home: Path
):
    keys_in(installed.state_folder).add("ann")
    own = [
        own_servers_file(),
        home / "settings" / "mine.toml",
        home / "project" / ".mcp.json",
        home / "stored" / "catalog.db",
        home / "stored" / "catalog.db-wal",
        home / "stored" / "events.db",
        home / "stored" / "handles.db",
        home / "stored" / "handles.db-wal",
        installed.state_folder / "keys.db",
        installed.state_folder / "decisions.db",
        home / "run" / "x.json",
        home / ".cache" / "toolcrib" / "vectors.db",
        home / ".local" / "share" / "toolcrib" / "notes" / "a.md",
    ]
    link = home / "link"
    link.symlink_to(installed.state_folder)
    for path in (*own, link / "keys.db", Path("/proc/self/environ")):
        for tool, more in {"read_file": {}, "write_file": {"text": "x", "overwrite": True}}.items():
            got = tried(installed, LOCAL_USER, tool, {"path": str(path), **more})
            assert got.is_error, (tool, path)
            assert "Toolcrib itself" in words(got), (tool, path)
    assert [each.name for each in keys_in(installed.state_folder).all()] == ["ann"]
    assert not own_servers_file().exists()


def test_a_key_for_one_profile_leads_to_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Neither what a tool can read nor what stands in the runtime file is good for more."""
    file = Path(files_in(tmp_path).info)
    monkeypatch.setenv("TOOLCRIB_RUN_FOLDER", str(file.parent))

    async def scenario() -> None:
        profiles = {"reading": {"builtin_tools": True}, "writing": {}}
        settings = settings_of(file_roots=["/"], gateway={"profiles": profiles})
        async with serving(tmp_path, settings, servers=GatewayServers) as (daemon, runtime):
            key = new_key(settings, "ann", "reading")
            got = await call(
                runtime.port, key, "tool_call_read", "/mcp/reading",
                name="read_file", arguments={"path": str(file)},
            )  # fmt: skip
            assert got.json["result"]["isError"], got.json
            told = json.loads(await asyncio.to_thread(file.read_text))
            for secret in map(str, told.values()):
                answer = await call(runtime.port, secret, "tool_search", "/mcp/writing")
                assert answer.status == 401
            assert (await call(runtime.port, key, "tool_search", "/mcp/writing")).status == 403
            assert daemon.serving.authenticator.is_good("local")

    asyncio.run(scenario())


def test_no_secret_but_a_key_is_a_credential(tmp_path: Path):
    credentials = Authenticator(bare().gateway, keys_in(tmp_path))
    for secret in ("", "local", "token", "None"):
        with pytest.raises(AccessDenied):
            credentials.keyed(secret)
    with pytest.raises(ConfigError):
        keys_in(tmp_path).remove("local")


def test_a_page_of_the_daemons_own_address_is_not_fetched(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path) as (_, runtime):
            for host in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "127.1"):
                url = f"http://{host}:{runtime.port}/health"
                got = await asyncio.to_thread(
                    tried, settings_of(), LOCAL_USER, "fetch_url", {"url": url}
                )
                assert got.is_error, host
                assert "ok" not in words(got), host

    asyncio.run(scenario())


@pytest.mark.parametrize("era", ERAS)
def test_a_list_of_objects_with_a_type_is_a_value(
    era: Era, file: Path, caplog: pytest.LogCaptureFixture
):
    settings = settings_of(file_roots=[file.parent])
    listed = words(
        tried(settings, LOCAL_USER, "list_directory", {"path": str(file.parent)}, era=era)
    )
    assert json.loads(listed) == [{"name": "file.txt", "type": "file", "bytes": 6}]
    assert "file.txt" not in caplog.text


VALUES: list[Any] = [
    [{"type": "file"}],
    [{"type": "text"}],
    [{"type": "text", "text": "secret-7"}],
    [{"type": "image", "data": 1}],
    [{"type": "resource", "resource": {}}],
    [],
    [{"type": "text", "text": "a"}, 1],
    {"type": "text", "text": "secret-7"},
]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("value", VALUES, ids=json.dumps)
def test_what_a_function_returns_is_never_taken_for_content_blocks(
    era: Era, value: Any, caplog: pytest.LogCaptureFixture
):
    def look() -> Any:
        """Look at it."""
        return value

    async def scenario() -> types.CallToolResult:
        with Crib(bare()) as crib:
            crib.add(look, permission_kind="read")
            async with connected(GatewayServer(crib, Principal(LOCAL_USER)), era) as client:
                return await client.call_tool("tool_call_read", {"name": "look", "arguments": {}})

    assert json.loads(words(asked(scenario))) == value
    assert not [each for each in caplog.records if each.levelname == "ERROR"]


def test_a_result_that_the_protocol_does_not_know_stays_out_of_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    wrong = {"content": [{"type": "text", "text": {"secret-7": 1}}]}
    monkeypatch.setattr(window_module, "outcome_result", lambda *_a, **_k: wrong)

    async def scenario() -> str:
        with Crib(bare()) as crib:
            crib.add(list, name="look", description="Look", permission_kind="read")
            principal = Principal(LOCAL_USER, Profile(mode="direct"))
            async with connected(GatewayServer(crib, principal), "legacy") as client:
                with pytest.raises(MCPError) as caught:
                    await client.call_tool("look", {})
                return str(caught.value)

    assert "MCP cannot carry its result" in asked(scenario)
    assert "secret-7" not in caplog.text
