"""The end of a gateway with real requests under way, in both eras."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.certificates import HOST
from tests.gateway.clients import asked
from tests.gateway.daemons import (
    INITIALIZE,
    MODERN,
    Answer,
    Reached,
    bare,
    call,
    files_in,
    request,
    rpc,
    serving,
    with_token,
)
from tests.gateway.echo_servers import EchoServers
from tests.gateway.key_names import named
from tests.waiting import until_async
from toolcrib.connect.daemon_connection import connect_to_daemon
from toolcrib.gateway.daemon import Daemon
from toolcrib.gateway.http import listener

PROXIED = {"behind_proxy": True, "trusted_proxies": ["127.0.0.1"], "hosts": [HOST]}


class Draining:
    """A daemon, and what its tests ask of it."""

    def __init__(self, daemon: Daemon, at: Reached) -> None:
        self.daemon, self.at = daemon, at
        self.session = ""

    async def open_session(self) -> Answer:
        """Begin a session of the handshake era."""
        body = rpc("initialize", **INITIALIZE)
        answer = await request(self.at.port, headers=with_token(self.at.token), body=body)
        self.session = answer.headers.get("mcp-session-id", self.session)
        return answer

    async def call(self, era: str, tool: str) -> Answer:
        """Call a tool: in the session, or without one."""
        if era == "modern":
            return await call(self.at.port, self.at.token, tool)
        headers = with_token(self.at.token, Mcp_Session_Id=self.session)
        body = rpc("tools/call", 5, name=tool, arguments={})
        return await request(self.at.port, headers=headers, body=body)

    async def ready(self) -> Answer:
        return await request(self.at.port, "GET", "/ready")

    async def hold(self, *eras: str) -> list["asyncio.Task[Answer]"]:
        """Calls that last until `let_go`, all of them under way."""
        calls = [asyncio.create_task(self.call(era, "hold")) for era in eras]
        await until_async(lambda: self.daemon.request_limiter.running == len(eras), "they run")
        return calls

    def let_go(self) -> None:
        servers: Any = self.daemon.serving.servers
        servers.let_go.set()

    @property
    def has_ended(self) -> bool:
        return self.daemon._stopping.is_set()


@asynccontextmanager
async def draining(folder: Path, **gateway: Any) -> AsyncGenerator[Draining]:
    async with serving(folder, bare(gateway=gateway), servers=EchoServers) as (daemon, at):
        found = Draining(daemon, at)
        await until_async(daemon._is_loaded, "it is loaded")
        yield found


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def text(answer: Answer) -> str:
    """What a tool said, in plain JSON or as an event."""
    body = answer.body.partition(b"data: ")[2] or answer.body
    return json.loads(body)["result"]["content"][0]["text"]


@pytest.mark.plan(113)
def test_after_sigterm_running_requests_end_and_no_session_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(listener, "NOTICE_S", 0.05)

    async def scenario() -> None:
        async with draining(tmp_path, **PROXIED) as found:
            assert (await found.ready()).json == {"status": "ok"}
            assert (await found.open_session()).status == 200
            calls = await found.hold("legacy", "modern")
            terminate()
            await until_async(lambda: found.daemon.http.drain.has_begun, "the drain begins")
            ready = await found.ready()
            assert (ready.status, ready.json) == (503, {"status": "unavailable"})
            assert ready.headers["retry-after"] == "1"
            assert (await request(found.at.port, "GET", "/health")).status == 200
            refused = await found.open_session()
            assert (refused.status, refused.code) == (503, "draining")
            assert refused.headers["retry-after"] == "1"
            for era in ("legacy", "modern"):
                served = await found.call(era, "echo")
                assert served.status == 200, "what comes before the balancer notices is served"
                assert served.headers["connection"] == "close"
            assert not found.has_ended
            found.let_go()
            for each in await asyncio.gather(*calls):
                assert (each.status, named(text(each))) == (200, "key:owner@default: ")
            await until_async(lambda: found.has_ended, "it ends then")

    asked(scenario)


@pytest.mark.plan(113)
def test_streams_that_last_do_not_begin_and_are_not_waited_for(tmp_path: Path):
    async def scenario() -> None:
        async with draining(tmp_path) as found:
            await found.open_session()
            headers = with_token(found.at.token, Mcp_Session_Id=found.session)
            stream = asyncio.create_task(request(found.at.port, "GET", headers=headers))
            await until_async(lambda: found.daemon.stream_limiter.running, "it listens")
            (running,) = await found.hold("modern")
            terminate()
            await until_async(lambda: found.daemon.http.drain.has_begun, "the drain begins")
            assert (await request(found.at.port, "GET", headers=headers)).code == "draining"
            listen = with_token(
                found.at.token, MCP_Protocol_Version="2026-07-28", Mcp_Method="subscriptions/listen"
            )
            body = rpc("subscriptions/listen", _meta=MODERN)
            assert (await request(found.at.port, headers=listen, body=body)).code == "draining"
            found.let_go()
            await running
            await until_async(lambda: found.has_ended, "the stream is not waited for")
        await stream

    asked(scenario)


@pytest.mark.plan(113)
@pytest.mark.parametrize("twice", [False, True])
def test_who_takes_too_long_is_ended_and_so_are_all_by_a_second_sigterm(
    tmp_path: Path, *, twice: bool
):
    async def scenario() -> None:
        async with draining(tmp_path, drain_s=3600.0 if twice else 0.3) as found:
            await found.open_session()
            calls = await found.hold("legacy", "modern")
            terminate()
            await until_async(lambda: found.daemon.http.drain.has_begun, "the drain begins")
            if twice:
                terminate()
            await until_async(lambda: found.has_ended, "it ends, though they run")
        for each in calls:
            with suppress(ConnectionError, IndexError):
                assert (await each).status != 200

    asked(scenario)


def test_with_nobody_there_over_http_it_ends_at_once(tmp_path: Path):
    async def scenario() -> None:
        async with draining(tmp_path, drain_s=3600.0) as found:
            shim = await asyncio.to_thread(connect_to_daemon, files_in(tmp_path), "default", {})
            assert shim
            terminate()
            await until_async(lambda: found.has_ended, "a shim that is idle holds nothing up")
            shim.close()

    asked(scenario)


def test_a_balancer_has_time_to_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(listener, "NOTICE_S", 3600.0)

    async def scenario() -> None:
        async with draining(tmp_path, drain_s=0.5, **PROXIED) as found:
            terminate()
            await until_async(lambda: found.daemon.http.drain.has_begun, "the drain begins")
            assert (await found.ready()).status == 503
            assert (await found.call("modern", "echo")).status == 200
            await until_async(lambda: found.has_ended, "and never longer than a drain may take")

    asked(scenario)


def test_it_is_not_ready_before_what_there_is_can_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, at):
            await until_async(daemon._is_loaded, "it is loaded")
            monkeypatch.setattr(daemon, "_has_loaded", False)
            monkeypatch.setattr(daemon._background, "has_indexed", False)
            loading = await request(at.port, "GET", "/ready")
            assert (loading.status, loading.json) == (503, {"status": "unavailable"})
            assert (await request(at.port, "GET", "/health")).status == 200
            daemon._background.has_indexed = True
            assert (await request(at.port, "GET", "/ready")).status == 200

    asked(scenario)
