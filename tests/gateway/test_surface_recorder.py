"""Which first replies the gateway keeps, and that clients get the same at the next start."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from tests.gateway.daemons import environ, files_in
from toolcrib.connect import FirstReplies, read_surface
from toolcrib.gateway import sdk
from toolcrib.gateway.file_watcher import FileStamps, stamps_of
from toolcrib.gateway.message_streams import OpenGate
from toolcrib.gateway.modes import EffectiveMode
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.server import GatewayServer
from toolcrib.gateway.stdio import OpeningGate
from toolcrib.gateway.surface_recorder import SurfaceFile, SurfaceRecorder

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
SETTINGS = """store = ":memory:"
plugins = false
[apps]
enabled = false
[embed]
embedder = "none"
[gateway]
mode = "search"
[gateway.profiles.default]
builtin_tools = true
"""


class FakeServer:
    def __init__(self, mode: EffectiveMode, principal: str = "local") -> None:
        self.principal = Principal(principal)
        self.now: EffectiveMode = mode

    def mode(self, _client: str, *, modern: bool) -> EffectiveMode:  # noqa: ARG002 - its signature
        return self.now


def file_in(folder: Path, read: FileStamps | None = None) -> SurfaceFile:
    return SurfaceFile(files_in(folder), lambda: read or {})


def exchange(server: FakeServer, file: SurfaceFile, *listed: str) -> None:
    """A client of this server says hello and lists; it gets these tools, if there are any."""
    recorder = SurfaceRecorder(OpenGate(), cast("GatewayServer", server), file)
    for id, (method, params) in enumerate((("initialize", HELLO), ("tools/list", {}))):
        request = sdk.JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=params)
        assert recorder.refusal(request) is None
        tools: Any = {"tools": [{"name": name} for name in listed]} if id and listed else {}
        answer = sdk.JSONRPCResponse(jsonrpc="2.0", id=id, result={"answers": method, **tools})
        assert recorder.outgoing(answer) is answer


def kept_in(folder: Path) -> list[Any]:
    kept = cast("dict[str, Any]", read_surface(files_in(folder)).get("replies", {}))
    return [json.loads(name)[0] for name in kept.get("default", {})]


@pytest.mark.parametrize(
    ("mode", "methods"),
    [
        ("search", ["initialize", "tools/list"]),
        ("code", ["initialize", "tools/list"]),
        ("reveal", ["initialize"]),
        ("direct", []),
        ("passthrough", []),
    ],
)
def test_what_is_kept_does_not_list_the_pool(
    tmp_path: Path, mode: EffectiveMode, methods: list[str]
):
    exchange(FakeServer(mode), file_in(tmp_path))
    assert kept_in(tmp_path) == methods


@pytest.mark.parametrize(
    ("listed", "methods"),
    [
        (("tool_search", "tool_result"), ["initialize", "tools/list"]),
        (("tool_search", "mcp_shop_look_up_order"), ["initialize"]),
    ],
)
def test_a_list_with_tools_that_never_wait_is_not_kept(
    tmp_path: Path, listed: tuple[str, ...], methods: list[str]
):
    exchange(FakeServer("search"), file_in(tmp_path), *listed)
    assert kept_in(tmp_path) == methods


def test_nothing_is_given_where_a_variable_may_say_that_all_is_listed(tmp_path: Path):
    exchange(FakeServer("search"), file_in(tmp_path))
    line = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
    hello = json.dumps(line).encode()
    variable = {"ENABLE_TOOL_SEARCH": "false"}
    assert FirstReplies(files_in(tmp_path), "default", {}).reply(hello)
    assert not FirstReplies(files_in(tmp_path), "default", variable).reply(hello)


def test_for_a_key_nothing_is_kept(tmp_path: Path):
    exchange(FakeServer("search", "key:alice"), file_in(tmp_path))
    assert kept_in(tmp_path) == []


def test_what_came_to_depend_on_the_pool_is_dropped(tmp_path: Path):
    server = FakeServer("search")
    exchange(server, file_in(tmp_path))
    server.now = "direct"
    exchange(server, file_in(tmp_path))
    assert kept_in(tmp_path) == []


def test_other_files_than_before_drop_all_that_was_kept(tmp_path: Path):
    settings = tmp_path / "config.toml"
    settings.write_text("a")
    file = file_in(tmp_path, stamps_of([settings]))
    file.keep("small", "[]", {})
    exchange(FakeServer("search"), file)
    assert set(cast("dict[str, Any]", read_surface(files_in(tmp_path))["replies"])) == {
        *("small", "default")
    }
    settings.write_text("ab")
    exchange(FakeServer("search"), file_in(tmp_path, stamps_of([settings])))
    assert set(cast("dict[str, Any]", read_surface(files_in(tmp_path))["replies"])) == {"default"}


def test_a_file_that_changed_while_it_was_read_keeps_nothing(tmp_path: Path):
    settings = tmp_path / "config.toml"
    settings.write_text("a")
    before = stamps_of([settings])
    settings.write_text("ab")
    exchange(FakeServer("search"), file_in(tmp_path, before))
    assert kept_in(tmp_path) == []


def test_an_answer_that_was_given_is_not_sent_again(tmp_path: Path):
    exchange(FakeServer("search"), file_in(tmp_path))
    replies = FirstReplies(files_in(tmp_path), "default", {})
    for id, (method, params) in enumerate((("initialize", HELLO), ("tools/list", {}))):
        line = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        assert replies.reply(json.dumps(line).encode())
    gate = OpeningGate(replies)

    def answer(id: int, **result: Any) -> sdk.JSONRPCMessage:
        return sdk.JSONRPCResponse(jsonrpc="2.0", id=id, result=result)

    assert gate.outgoing(answer(0)) is None
    other = gate.outgoing(answer(1, tools=[{"name": "pinned since"}]))
    assert isinstance(other, sdk.JSONRPCNotification)
    assert other.method == "notifications/tools/list_changed"
    assert gate.outgoing(answer(1)) is not None


def test_the_second_start_replies_at_once_and_as_the_first(tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text(SETTINGS)
    first, second = (serve(tmp_path, config) for _ in range(2))
    assert first == second
    kept = read_surface(files_in_of(tmp_path, config))
    assert kept, "the first replies were kept"
    config.write_text(SETTINGS.replace("search", "direct"))
    third = serve(tmp_path, config)
    assert third[:1] != second[:1]


def files_in_of(folder: Path, config: Path) -> Any:
    from toolcrib.connect import ConnectOptions, locate_daemon  # noqa: PLC0415

    return locate_daemon(ConnectOptions(str(config)), environ(folder))


def serve(folder: Path, config: Path) -> list[Any]:
    """The answers of `serve --stdio` to a client that says all at once."""
    said = [
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list", "params": {}},
        {
            "id": 3,
            "method": "tools/call",
            "params": {"name": "tool_describe", "arguments": {"names": ["x"]}},
        },
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in said)
    words = ["--config", str(config), "serve", "--stdio"]
    with subprocess.Popen(
        [sys.executable, "-m", "toolcrib.cli", *words],
        env=environ(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(lines)
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.stdin.close()
        assert process.stdout.read() == ""
    assert answers[0]["id"] == 1
    # What is asked at once may be answered in another order.
    in_order = sorted(answers, key=lambda each: each["id"])
    assert [each["id"] for each in in_order] == [1, 2, 3]
    return in_order
