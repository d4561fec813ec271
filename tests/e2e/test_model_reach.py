"""All that a model, or whoever speaks for one, can reach: used in every way, it decides nothing.

What there is to reach is asked for, not listed here: by the gateway's own `tools/list` in every
mode, the handlers of its server, the tools of a session, and the answers of the apps' protocol.
Rules allow everything but one tool, so that nothing but that question is in the way.
"""

import asyncio
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp.server.runner import modern_on_request
from mcp.shared.direct_dispatcher import create_direct_dispatcher_pair
from typer.testing import CliRunner
from websockets.exceptions import ConnectionClosed

from tests.gateway.clients import ERAS, Era, connected
from tests.sources.apps.joining import Raw, raw
from tests.sources.mcp.faking import FAKE, own_file
from tests.waiting import let_pass_async
from toolcrib.access import Scope
from toolcrib.adapters.wire.calls import ToolCall, make_calls
from toolcrib.cli.app import app
from toolcrib.crib import Crib, inventory_of
from toolcrib.gateway import keys_in
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.gateway.server import GatewayServer
from toolcrib.settings import GatewayMode, Settings, config_folder
from toolcrib.sources.apps.server import AppConnection

ASKED = "delete_note"
HELD = "mcp_fake_echo"
MODES: tuple[GatewayMode, ...] = ("search", "reveal", "direct", "passthrough")
HAZARDS = {"sleep", "progress", "endless", "huge", "crash", "broken", "touch"}
"""What the fake server has to try the client with; none of it is ours."""
WORDS = (
    "approve",
    "decide",
    "review",
    "trust",
    "add",
    "remove",
    "reload",
    "stop",
    "keys",
    "config",
)


class Reach:
    """A crib with a call that waits for leave and a definition that waits for review."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rug, config = folder / "rug.json", own_file()
        args = ["-S", str(FAKE), "offers", f"rug={rug}"]
        config.write_text(
            json.dumps({"mcpServers": {"fake": {"command": sys.executable, "args": args}}})
        )
        self._refresh(config)
        rug.write_text(json.dumps({"echo": {"description": "Another echo"}}))
        self._refresh(config)
        rules = [{"verdict": "ask", "pattern": ASKED}, {"verdict": "allow"}]
        self.settings = Settings.model_validate(
            {
                "store": str(folder / "catalog.db"),
                "plugins": False,
                "builtin_tools": True,
                "file_roots": (folder, Path.home()),
                "mcp_config": (config,),
                "approval": {"rules": rules, "wait_s": 0},
            }
        )
        self.crib = Crib.from_settings(self.settings)
        asked = asyncio.run(self.crib.call(ASKED, {"title": "x"}))
        assert asked.error
        self.ticket = asked.error.ticket
        self.files = [config, *self._kept()]
        self.before = self.state()
        assert self.ticket
        assert self.crib.get(HELD).state == "changed"

    def _refresh(self, config: Path) -> None:
        CliRunner().invoke(app, ["--mcp-config", str(config), "refresh"])

    def _kept(self) -> list[Path]:
        """The files in which an operator decides."""
        config_folder().mkdir(parents=True, exist_ok=True)
        (config_folder() / "config.toml").write_text("[approval]\n")
        state = self.settings.state_folder
        keys_in(state).add("ann")
        return [
            config_folder() / "config.toml",
            config_folder() / "servers.json",
            state / "keys.db",
            state / "decisions.db",
        ]

    def state(self) -> dict[str, object]:
        """All that only the operator may change."""
        return {
            "waits": self.ticket in {each.id for each in self.crib.operator.tickets.waiting()},
            "held": self.crib.get(HELD).state,
            "servers": sorted(inventory_of(self.crib).servers),
            "files": [path.read_bytes() for path in self.files],
        }

    def close(self) -> None:
        self.crib.close()

    def texts(self) -> list[str]:
        return [self.ticket, HELD, ASKED, *map(str, self.files)]

    def guesses(self, schema: Any) -> Iterator[dict[str, Any]]:
        """Arguments of the right types, each filled with what it would take to decide."""
        fields = dict(schema.get("properties", {}))
        for text in self.texts():
            said = {"ticket": self.ticket, "id": self.ticket, "approved": True}
            yield said | {name: _fitting(field, text) for name, field in fields.items()}
            yield {name: _fitting(field, text) for name, field in fields.items()}


def _fitting(field: Any, text: str) -> Any:
    kind = field.get("type", "string") if isinstance(field, dict) else "string"
    match kind[0] if isinstance(kind, list) else kind:
        case "integer" | "number":
            return 1
        case "boolean":
            return True
        case "array":
            return [_fitting(field.get("items", {}), text)]
        case "object":
            return {"ticket": text, "id": text, "name": text, "path": text, "approved": True}
        case _:
            return text


@pytest.fixture
def reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reach]:
    monkeypatch.chdir(tmp_path)
    reach = Reach(tmp_path)
    yield reach
    reach.close()


def server_of(reach: Reach, mode: GatewayMode) -> GatewayServer:
    """With all there is, the tools that come along too."""
    return GatewayServer(reach.crib, Principal("ann", Profile(mode=mode, scope=Scope())))


@pytest.mark.plan(45)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("mode", MODES)
def test_no_tool_that_the_gateway_lists_decides_anything(reach: Reach, mode: GatewayMode, era: Era):
    names: set[str] = set()

    async def run() -> None:
        async with connected(server_of(reach, mode), era) as client:
            for tool in (await client.list_tools()).tools:
                names.add(tool.name)
                if tool.name.removeprefix("mcp_fake_") in HAZARDS:
                    continue
                for given in reach.guesses(tool.input_schema):
                    with suppress(MCPError):
                        await client.call_tool(tool.name, given)
            for name in _reachable(reach):
                with suppress(MCPError):
                    given = {"name": name, "arguments": {"ticket": reach.ticket}}
                    await client.call_tool("tool_call", given)

    asyncio.run(run())
    assert reach.state() == reach.before
    if mode in ("direct", "passthrough"):
        assert names >= {"read_file", "write_file", "mcp_fake_pid"}
    else:
        assert {"tool_search", "tool_call"} <= names


def _reachable(reach: Reach) -> Sequence[str]:
    every = [name for name in reach.crib.entries() if name.rpartition("_")[2] not in HAZARDS]
    return [*every, *WORDS, *(f"toolcrib_{word}" for word in WORDS)]


@pytest.mark.plan(45)
def test_no_method_that_the_gateway_serves_decides_anything(reach: Reach):
    server = server_of(reach, "search")

    async def send(method: str, params: dict[str, Any]) -> None:
        mine, theirs = create_direct_dispatcher_pair()
        handle = modern_on_request(server.mcp_server, {})
        running = [
            asyncio.ensure_future(theirs.run(handle, _nothing)),
            asyncio.ensure_future(mine.run(_refuse, _nothing)),
        ]
        await asyncio.sleep(0)
        asking = asyncio.ensure_future(mine.send_raw_request(method, params))
        if method == "subscriptions/listen":  # it ends when the client does
            await let_pass_async()
            asking.cancel()
        await asyncio.wait({asking})
        mine.close()
        theirs.close()
        await asyncio.wait(running)
        with suppress(MCPError, asyncio.CancelledError):
            asking.result()

    async def run() -> None:
        handlers = server.mcp_server._request_handlers
        assert len(handlers) > 10
        offered = [*handlers, *(f"{word}/{word}" for word in WORDS), *WORDS]
        for method in offered:
            for text in reach.texts():
                await send(method, _params(text, reach.ticket))

    asyncio.run(run())
    assert reach.state() == reach.before


def _params(text: str, ticket: str) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "ticket": ticket,
    }
    return {
        "name": text,
        "uri": text,
        "id": ticket,
        "ticket": ticket,
        "approved": True,
        "level": "info",
        "ref": {"type": "ref/prompt", "name": text},
        "argument": {"name": text, "value": ticket},
        "arguments": {"ticket": ticket, "name": text},
        "notifications": {},
        "_meta": meta,
    }


async def _nothing(*_args: Any) -> None:
    pass


async def _refuse(*_args: Any) -> Any:
    raise MCPError(-32601, "no")


@pytest.mark.plan(45)
def test_no_tool_of_a_session_decides_anything(reach: Reach):
    """Through what every adapter makes its calls with."""
    session = reach.crib.session()

    async def calls(made: Iterable[ToolCall]) -> None:
        for each in made:
            await make_calls(session, [each], None)

    async def run() -> None:
        names = [*reach.crib.entries()]
        reveal = [ToolCall("1", "tool_search", {"queries": [f"select:{name}"]}) for name in names]
        await calls(reveal)
        tools = {tool.name: tool for tool in session.active_tools()}
        assert set(tools) >= {"write_file", "tool_search"}
        for name, tool in tools.items():
            if name.removeprefix("mcp_fake_") not in HAZARDS:
                await calls(ToolCall("2", name, each) for each in reach.guesses(tool.parameters))
        await calls(ToolCall("3", word, {"ticket": reach.ticket}) for word in WORDS)

    asyncio.run(run())
    assert reach.state() == reach.before


@pytest.mark.plan(45)
def test_nothing_that_an_app_may_say_decides_anything(reach: Reach):
    answers = AppConnection(None, "", None).peer._handlers  # type: ignore[arg-type]
    reach.crib.listen()
    heard: list[Any] = []
    for method in (*answers, *WORDS, *(f"operator/{word}" for word in WORDS)):
        for greeted in (False, True):
            with suppress(ConnectionClosed), raw(reach.settings.state_folder / "apps") as peer:
                heard.append(said(peer, method, reach, greeted=greeted))
    assert [each for each in heard if "registered" in each.get("result", {})]
    assert reach.state() == reach.before


def said(peer: Raw, method: str, reach: Reach, *, greeted: bool) -> Any:
    if greeted:
        assert "result" in peer.hello(name="raw")
    tool = {"name": "approve", "description": "x", "parameters": {"type": "object"}}
    return peer.ask(
        method, ticket=reach.ticket, id=reach.ticket, do="decide", allowed=True, tools=[tool]
    )
