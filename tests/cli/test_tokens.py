import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.gateway.clients import connected
from tests.sources.mcp.faking import FAKE, own_file
from toolcrib import Crib, load_settings
from toolcrib.adapters.openai_chat import ChatWire
from toolcrib.gateway import profile_named
from toolcrib.gateway.principal import LOCAL_USER, Principal
from toolcrib.gateway.server import GatewayServer
from toolcrib.text import token_counter

WIRES = ["Anthropic Messages", "OpenAI Responses", "OpenAI Chat Completions", "Gemini"]


@pytest.fixture
def settings_file(tmp_path, monkeypatch: pytest.MonkeyPatch) -> str:
    config = tmp_path / "settings.toml"
    config.write_text('store = ":memory:"\nplugins = false\n', encoding="utf-8")
    for variable in ("TOOLCRIB_TOOL_SEARCH", "ENABLE_TOOL_SEARCH"):
        monkeypatch.delenv(variable, raising=False)
    return str(config)


def test_the_figures_add_up(run: Run, settings_file: str):
    figures = run("--config", settings_file, "tokens", "--json").json
    assert figures["how"] == "counted with o200k_base"
    assert figures["saved"] == figures["eager"] - figures["deferred"] > 0
    assert figures["share"] == pytest.approx(figures["saved"] / figures["eager"])
    assert figures["eager"] == sum(each["eager"] for each in figures["sources"])
    assert figures["tools"] == sum(each["tools"] for each in figures["sources"])
    assert 0 < figures["break_even"] <= figures["tools"]


def test_the_tables_have_each_source_and_each_surface(run: Run, settings_file: str):
    figures = run("--config", settings_file, "tokens", "--json").json
    lines = run("--config", settings_file, "tokens").out.splitlines()
    head, builtin, total, _, places, *rows, verdict = lines
    assert head.split() == ["definitions", "of", "tools", "tokens", "never", "deferred"]
    assert builtin.split()[:2] == ["builtin", str(figures["tools"])]
    assert total.split() == ["all", str(figures["tools"]), f"{figures['eager']:,}", "0"]
    titles = ["sent by", "all listed", "with search", "saved", "with prefetch"]
    assert places.split() == " ".join(titles).split()
    assert [row.split("  ")[0] for row in rows] == [each["name"] for each in figures["surfaces"]]
    assert f"{figures['surfaces'][1]['sent']:,}" in rows[1]
    assert f"revealed {figures['break_even']} tools" in verdict


def test_a_surface_costs_what_is_sent_there(run: Run, settings_file: str, tmp_path: Path):
    """As real clients and SDKs have it, in place of the definitions by themselves."""
    config = tmp_path / "gateway.toml"
    profile = "[gateway.profiles.default]\nbuiltin_tools = true\n"
    config.write_text(f'store = ":memory:"\nplugins = false\n{profile}', encoding="utf-8")
    figures = run("--config", str(config), "tokens", "--json").json
    by_name = {each["name"]: each for each in figures["surfaces"]}
    assert list(by_name) == ["gateway, profile default (search)", *WIRES]
    crib = Crib.from_settings(load_settings({}, config))
    with crib:
        client = asyncio.run(received(crib))
        chat = ChatWire(crib.session())
        sent = json.dumps(
            chat.request([{"role": "user", "content": "Hi"}]).get("tools"),
            separators=(",", ":"),
            ensure_ascii=False,
        )
        told = chat.system_note()
    count = token_counter().count
    assert by_name["gateway, profile default (search)"]["sent"] == count(client)
    assert by_name["OpenAI Chat Completions"]["sent"] == count(sent) + count(told)
    for each in figures["surfaces"]:
        assert each["sent"] < each["eager"]
        assert each["share"] == pytest.approx(1 - each["sent"] / each["eager"])


async def received(crib: Crib) -> str:
    """What a client of the gateway is given before it asks for anything."""
    principal = Principal(LOCAL_USER, profile_named(crib.settings.gateway))
    async with connected(GatewayServer(crib, principal)) as client:
        listed = await client.list_tools()
        tools = [
            tool.model_dump(mode="json", by_alias=True, exclude_unset=True) for tool in listed.tools
        ]
        dumped = json.dumps(tools, separators=(",", ":"), ensure_ascii=False)
        return f"{client.instructions}\n{dumped}"


def test_a_gateway_that_shows_nothing_saves_nothing(run: Run, settings_file: str):
    [gateway, *_] = run("--config", settings_file, "tokens", "--json").json["surfaces"]
    assert gateway["name"] == "gateway, profile default (shows nothing)"
    assert (gateway["eager"], gateway["share"]) == (0, None)


def test_where_so_many_tools_are_not_taken_it_says_so(run: Run, tmp_path: Path):
    tools = "\n".join(f"tool_{n}: {{function: 'posixpath:normpath'}}" for n in range(130))
    (tmp_path / "tools.yaml").write_text(tools, encoding="utf-8")
    config = tmp_path / "many.toml"
    config.write_text(
        'store = ":memory:"\nbuiltin_tools = false\nplugins = false\ntools = ["tools.yaml"]\n',
        encoding="utf-8",
    )
    places = run("--config", str(config), "tokens", "--json").json["surfaces"]
    by_name = {each["name"]: each for each in places}
    assert by_name["OpenAI Chat Completions"]["eager"] is None
    assert by_name["Gemini"]["eager"] > by_name["Gemini"]["sent"]
    assert "too many" in run("--config", str(config), "tokens").out


def test_with_nothing_deferred_it_says_so(run: Run, settings_file: str):
    ran = run("--config", settings_file, "tokens", "--tool-search", "off")
    assert "Nothing is deferred" in ran.out
    assert "0.0%" in ran.out


def test_a_mode_that_is_none_is_an_error(run: Run, settings_file: str):
    ran = run("--config", settings_file, "tokens", "--mode", "some")
    assert "is not a value of `tool_search`" in str(ran.error)


def test_a_pool_that_is_small_says_that_there_is_nothing_to_save(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = own_file()
    server = {"command": sys.executable, "args": ["-S", str(FAKE)]}
    file.write_text(json.dumps({"mcpServers": {"good": server}}))
    run("--mcp-config", str(file), "refresh")
    monkeypatch.setenv("TOOLCRIB_SESSION__THRESHOLD", "90")
    shown = run("--mcp-config", str(file), "tokens").out
    assert "no tool waits for a search, so that all are listed: nothing to save yet" in shown
    monkeypatch.setenv("TOOLCRIB_SESSION__THRESHOLD", "1")
    assert "nothing to save" not in run("--mcp-config", str(file), "tokens").out


def test_what_a_message_shows_at_once_is_counted(run: Run, settings_file: str):
    def prefetched(*said: str) -> dict[str, tuple[int, int | None]]:
        figures = run("--config", settings_file, "tokens", "--json", *said).json
        return {each["name"]: (each["sent"], each["prefetched"]) for each in figures["surfaces"]}

    at_most, named = prefetched(), prefetched("--message", "read_file")
    nothing = prefetched("--message", "zzzqqq")
    for name in WIRES:
        sent, most = at_most[name]
        assert most == sent + 800
        assert sent < (named[name][1] or 0) < sent + 800
        assert nothing[name] == (sent, sent)
    [gateway] = [name for name in at_most if name not in WIRES]
    assert at_most[gateway][1] is None


def test_with_prefetch_off_it_costs_nothing(run: Run, tmp_path: Path):
    config = tmp_path / "off.toml"
    config.write_text(
        'store = ":memory:"\nplugins = false\n[session]\nprefetch = "off"\n', encoding="utf-8"
    )
    figures = run("--config", str(config), "tokens", "--json").json
    wires = [each for each in figures["surfaces"] if each["name"] in WIRES]
    assert all(each["prefetched"] == each["sent"] for each in wires)
