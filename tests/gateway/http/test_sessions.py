"""Who is served over HTTP is remembered within bounds, and nobody loses what is open."""

import asyncio
from pathlib import Path

import pytest

from tests.gateway.daemons import INITIALIZE, bare, call, request, rpc, serving, with_token
from tests.gateway.key_names import named
from tests.waiting import HANG_S, until_async
from toolcrib.gateway import keys_in
from toolcrib.gateway.http import sessions as module


def test_many_who_come_and_go_take_bounded_memory_and_an_open_session_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MOST_PRINCIPALS", 3)
    keys = keys_in(bare().state_folder)

    async def run() -> None:
        async with asyncio.timeout(HANG_S), serving(tmp_path) as (daemon, at):
            headers = with_token(at.token)
            opened = await request(at.port, headers=headers, body=rpc("initialize", **INITIALIZE))
            headers["mcp-session-id"] = opened.headers["mcp-session-id"]
            holding = asyncio.create_task(call(at.port, keys.add("holder"), "hold"))
            await until_async(lambda: daemon.request_limiter.running)
            for number in range(12):
                answer = await call(at.port, keys.add(f"k{number}"), "echo")
                assert answer.status == 200
            sessions = daemon.serving.sessions
            names = [named(each["principal"]) for each in sessions.principals()]  # type: ignore[index]
            assert names == ["key:owner", "key:holder", "key:k11"]
            await until_async(lambda: not sessions._ended, "those that made room have ended")
            listed = await request(at.port, headers=headers, body=rpc("tools/list", 2))
            assert listed.status == 200
            daemon.serving.servers.let_go.set()  # type: ignore[attr-defined]
            assert (await holding).status == 200
            assert (await call(at.port, keys.rotate("k0"), "echo")).status == 200

    asyncio.run(run())
