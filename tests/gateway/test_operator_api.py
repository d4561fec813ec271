import asyncio
import json
import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.daemons import bare, call, files_in, request, serving, with_token
from tests.gateway.key_names import named
from tests.gateway.live_daemon import LiveDaemon, entry, listed, pid_of
from tests.waiting import HANG_S, let_pass_async
from toolcrib.connect import DaemonFiles
from toolcrib.crib import Crib, CribIndex
from toolcrib.dashboard.screens import SCREENS
from toolcrib.errors import ConfigError
from toolcrib.execute import Caller
from toolcrib.gateway import ask_daemon, operator_api


def with_a_tool() -> Crib:
    crib = Crib.from_settings(bare())

    def send_mail(to: str) -> str:
        """Send a mail."""
        return f"sent to {to}"

    crib.add(send_mail, permission_kind="network", approval="ask")
    return crib


def test_status_tells_who_is_there(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, runtime):
            await call(daemon.port, runtime.token, "echo")
            reader, writer = await asyncio.open_unix_connection(runtime.socket)
            writer.write(b'{"toolcrib": 1, "profile": "default", "pid": 5}\n')
            await reader.readline()
            about = {"name": "editor", "version": "2"}
            params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}
            said = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
            writer.write(json.dumps(said).encode() + b"\n")
            await reader.readline()
            status: Any = await asyncio.to_thread(ask_daemon, files_in(tmp_path), "status")
            writer.close()
            assert status["pid"] == runtime.pid
            assert status["address"].endswith(f":{runtime.port}/mcp")
            assert status["waiting"] == 0
            (client,) = status["clients"]
            assert (client["name"], client["version"], client["pid"]) == ("editor", "2", 5)
            assert (client["protocol"], client["requests"]) == ("2025-11-25", 1)
            assert client["mode"] == "direct"
            (http,) = status["http"]
            assert (named(http["principal"]), http["profile"]) == ("key:owner", "default")
            assert runtime.token not in json.dumps(status)

    asyncio.run(scenario())


def test_a_call_that_waits_is_allowed_or_denied_by_the_operator(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path, crib=with_a_tool) as (daemon, _):
            crib, place = daemon.serving.crib, files_in(tmp_path)
            mine = Caller("local@default")

            async def made() -> str:
                outcome = await crib.call("send_mail", {"to": "a@b"}, caller=mine)
                return outcome.error.code if outcome.error else "done"

            async def waiting() -> Any:
                return await asyncio.to_thread(ask_daemon, place, "approvals")

            assert await made() == "approval_needed"
            (ticket,) = await waiting()
            assert (ticket["name"], ticket["caller"]) == ("send_mail", "local@default")
            assert ticket["arguments"] == {"to": "a@b"}
            await asyncio.to_thread(ask_daemon, place, "decide", id=ticket["id"][:6], allowed=True)
            assert not await waiting()
            assert await made() == "done"
            assert await made() == "approval_needed"
            (ticket,) = await waiting()
            await asyncio.to_thread(ask_daemon, place, "decide", id=ticket["id"], allowed=False)
            assert not await waiting()
            for wrong in ("", ticket["id"], "zzz"):
                with pytest.raises(ConfigError, match="no call waits"):
                    await asyncio.to_thread(ask_daemon, place, "decide", id=wrong, allowed=True)

    asyncio.run(scenario())


def test_the_operator_can_end_it(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, _):
            await asyncio.to_thread(ask_daemon, files_in(tmp_path), "stop")
            assert daemon._stopping.is_set()

    asyncio.run(scenario())


def test_without_a_daemon_one_is_told_so(tmp_path: Path):
    with pytest.raises(ConfigError, match="toolcrib serve"):
        ask_daemon(files_in(tmp_path), "status")


@pytest.mark.parametrize("line", [b"\n", b"[]\n", b'{"do": "add_server"}\n', b'{"do": []}\n'])
def test_what_is_no_deed_is_refused(tmp_path: Path, line: bytes):
    def asked(place: DaemonFiles) -> Any:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(place.operator)
            connection.sendall(line)
            return json.loads(connection.makefile().readline())

    async def scenario() -> None:
        async with serving(tmp_path):
            assert "not one of" in (await asyncio.to_thread(asked, files_in(tmp_path)))["error"]

    asyncio.run(scenario())


DEEDS = [
    *("status", "stop", "reload", "approvals", "decide", "stop_server"),
    *("watch", "queries", "sets", "profiles"),
]


@pytest.mark.plan(45)
def test_neither_http_nor_a_shim_leads_to_the_operators_side(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path, crib=with_a_tool) as (daemon, runtime):
            crib = daemon.serving.crib
            await crib.call("send_mail", {"to": "a"}, caller=Caller("local@default"))
            (ticket,) = crib.operator.tickets.waiting()
            for deed in DEEDS:
                for path in (f"/{deed}", f"/operator/{deed}", f"/gateway/{deed}"):
                    answer = await request(
                        runtime.port, path=path, headers=with_token(runtime.token), body=b"{}"
                    )
                    assert answer.status == 404
                for method in (deed, f"operator/{deed}", f"toolcrib/{deed}"):
                    body = {"do": deed, "id": ticket.id, "allowed": True}
                    said = await through_a_shim(runtime.socket, method, body)
                    assert "error" in said, said
            assert crib.operator.tickets.waiting()
            assert not daemon._stopping.is_set()

    asyncio.run(scenario())


PAGES = [*SCREENS, "/login", "/pulse", "/stream", "/act/allow_call", "/static/live.js"]


@pytest.mark.plan(98)
@pytest.mark.parametrize("page", PAGES)
def test_no_page_of_the_dashboard_is_at_the_gateway(tmp_path: Path, page: str):
    async def scenario() -> None:
        async with serving(tmp_path) as (_, runtime):
            for method in ("GET", "POST"):
                for prefix in ("", "/dashboard"):
                    headers = with_token(runtime.token)
                    answer = await request(runtime.port, method, f"{prefix}{page}", headers)
                    assert answer.status == 404

    asyncio.run(scenario())


async def through_a_shim(path: str, method: str, params: dict[str, Any]) -> Any:
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(b'{"toolcrib": 1, "profile": "default", "pid": 5}\n')
    await reader.readline()
    said = {**params, "jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    writer.write(json.dumps(said).encode() + b"\n")
    answer = json.loads(await reader.readline())
    writer.close()
    return answer


def test_a_deed_that_takes_long_is_answered_when_it_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(operator_api, "MESSAGE_S", 0.2)
    begun, may = threading.Event(), threading.Event()

    def slowly() -> Crib:
        if begun.is_set():
            assert may.wait(HANG_S)
        return with_a_tool()

    async def scenario() -> None:
        async with serving(tmp_path, crib=slowly) as (daemon, _):
            begun.set()
            before = daemon.serving
            asked = asyncio.create_task(asyncio.to_thread(ask_daemon, files_in(tmp_path), "reload"))
            await let_pass_async(3 * operator_api.MESSAGE_S)  # longer than a message may take
            assert not asked.done()
            may.set()
            assert await asked is True
            assert daemon.serving is not before

    asyncio.run(scenario())


def test_a_reload_does_not_wait_for_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    vectors = threading.Event()
    monkeypatch.setattr(CribIndex, "has_embedder", True)
    monkeypatch.setattr(CribIndex, "embedded", lambda _self, _timeout_s=None: vectors.is_set())

    async def scenario() -> None:
        async with serving(tmp_path, crib=with_a_tool) as (daemon, _):
            before = daemon.serving
            assert await asyncio.to_thread(ask_daemon, files_in(tmp_path), "reload") is True
            assert daemon.serving is not before
            assert await asyncio.to_thread(ask_daemon, files_in(tmp_path), "reload") is True
            vectors.set()

    asyncio.run(asyncio.wait_for(scenario(), HANG_S))


@pytest.mark.parametrize("said", [b"", b"\n", b"nonsense\n", b"[]\n"])
def test_a_gateway_that_hangs_up_is_named(tmp_path: Path, said: bytes):
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(said)
        writer.close()

    async def scenario() -> None:
        path = files_in(tmp_path).operator
        async with serving(tmp_path):
            await asyncio.to_thread(os.unlink, path)
            async with await asyncio.start_unix_server(hang_up, path):
                with pytest.raises(ConfigError, match="hung up without an answer to `reload`"):
                    await asyncio.to_thread(ask_daemon, files_in(tmp_path), "reload")

    asyncio.run(scenario())


def test_the_operator_stops_a_server_and_the_next_call_starts_it_again(tmp_path: Path):
    async def scenario() -> None:
        live = LiveDaemon(tmp_path)
        live.write({"one": entry()})
        async with live.serving() as daemon:
            await listed(daemon, "one")
            first = await pid_of(daemon, "one")
            assert await live.ask("stop_server", server="one") is True
            (status,) = (await live.ask("servers"))["servers"]
            assert (status["state"], status["memory_bytes"]) == ("asleep", None)
            assert await pid_of(daemon, "one") != first
            with pytest.raises(ConfigError, match="nearest: one"):
                await live.ask("stop_server", server="on")

    asyncio.run(scenario())
