"""Three gateways behind a real proxy: who comes where, what streams, and what a lost one costs."""

import asyncio
import json
import signal
import ssl
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.certificates import HOST, Authority
from tests.deploy.proxies import PROXIES, Proxy, proxied
from tests.deploy.replicas import PROXIED, Replica, new_keys, replicas
from tests.gateway.clients import ERAS, Era, asked, words
from tests.gateway.daemons import INITIALIZE, MODERN, Answer, parsed, rpc, with_token
from tests.waiting import until_async
from toolcrib.gateway import keys_in
from toolcrib.settings import Settings

NAMES = ("one", "two", "three")
WHERE = "mcp_site_where"
HOLD = "mcp_site_hold"
CLIENT = "127.0.0.2"


class Site:
    """A proxy and three gateways. `keys` has enough that every gateway has clients of its own."""

    def __init__(
        self, kind: str, proxy: Proxy, gateways: list[Replica], authority: Authority
    ) -> None:
        self.kind, self.proxy, self.gateways, self._authority = kind, proxy, gateways, authority
        self.keys = new_keys(*(f"client{n}" for n in range(12)))

    async def ask(
        self, headers: dict[str, str], body: bytes = b"", verb: str = "POST", path: str = "/mcp"
    ) -> Answer:
        """One request through the proxy."""
        context: ssl.SSLContext = self._authority.context()
        # From another address than the proxy's, which is trusted.
        reader, writer = await asyncio.open_connection(
            *("127.0.0.1", self.proxy.port),
            ssl=context,
            server_hostname=HOST,
            local_addr=(CLIENT, 0),
        )
        named = {"Host": HOST, "Connection": "close", **headers, "Content-Length": str(len(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        writer.write(f"{verb} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        said = await reader.read()
        writer.close()
        return parsed(said)

    async def call(self, key: str, tool: str = WHERE, **arguments: Any) -> Answer:
        """A call of the modern era."""
        headers = with_token(
            key, MCP_Protocol_Version="2026-07-28", Mcp_Method="tools/call", Mcp_Name=tool
        )
        body = rpc("tools/call", name=tool, arguments=arguments, _meta=MODERN)
        return await self.ask(headers, body)

    async def open_session(self, key: str) -> Answer:
        return await self.ask(with_token(key), rpc("initialize", **INITIALIZE))

    async def call_in(self, session: str, key: str, tool: str = WHERE, **arguments: Any) -> Answer:
        """A call of the handshake era."""
        body = rpc("tools/call", 7, name=tool, arguments=arguments)
        return await self.ask(with_token(key, Mcp_Session_Id=session), body)

    async def homes(self) -> dict[str, str]:
        """Where each key is served now."""
        return {key: text(await self.call(key)) for key in self.keys}

    def gateway(self, name: str) -> Replica:
        return next(each for each in self.gateways if each.name == name)

    @asynccontextmanager
    async def client(self, key: str, era: Era) -> AsyncGenerator[Client]:
        """A client of the SDK."""
        async with (
            httpx2.AsyncClient(
                headers={"Authorization": f"Bearer {key}", "Host": HOST},
                verify=self._authority.context(),
                timeout=100,
            ) as http,
            Client(
                streamable_http_client(
                    f"https://localhost:{self.proxy.port}/mcp", http_client=http
                ),
                mode=era,
                cache=None,
            ) as client,
        ):
            yield client


def text(answer: Answer) -> str:
    """What a tool said, in plain JSON or as the last event."""
    assert answer.status == 200, answer
    body = answer.body.rpartition(b"data: ")[2] or answer.body
    return json.loads(body)["result"]["content"][0]["text"]


@pytest.fixture(params=PROXIES)
def site(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Generator[Site]:
    assert home
    authority = Authority()
    gateway = PROXIED.format(host=HOST)
    with (
        replicas(tmp_path, NAMES, gateway) as gateways,
        proxied(request.param, tmp_path, authority, [each.port for each in gateways]) as proxy,
    ):
        yield Site(request.param, proxy, gateways, authority)


@pytest.mark.plan(112)
@pytest.mark.plan(113)
def test_three_gateways_behind_a_proxy_are_one(site: Site, tmp_path: Path):
    async def run() -> None:
        await clients_stay(site)
        for era in ERAS:
            await streams_come_as_they_are_sent(site, era, tmp_path / f"stream-{era}")
        await lies_count_for_nothing(site)
        ended = await an_end_costs_nobody_anything(site, tmp_path / "drained")
        ended.start_again()
        await a_kill_costs_only_its_own_connections(site, tmp_path / "killed")

    asked(run)


async def clients_stay(site: Site) -> None:
    """Each at its gateway, with a session and without."""
    homes = await site.homes()
    assert set(homes.values()) == set(NAMES), "each has clients"
    assert await site.homes() == homes
    for key, home in list(homes.items())[:4]:
        session = (await site.open_session(key)).headers["mcp-session-id"]
        for _ in range(3):
            assert text(await site.call_in(session, key)) == home
        if site.kind == "haproxy":
            await a_session_stays_when_its_client_gets_another_secret(site, session, key, home)


async def a_session_stays_when_its_client_gets_another_secret(
    site: Site, session: str, key: str, home: str
) -> None:
    """As with each refresh of a person's token: another hash, the same principal."""
    with closing(keys_in(Settings().state_folder)) as keys:
        renewed = keys.rotate(f"client{site.keys.index(key)}", grace_s=3600)
    assert text(await site.call_in(session, renewed)) == home


async def streams_come_as_they_are_sent(site: Site, era: Era, path: Path) -> None:
    """The call ends only after its progress has come: a proxy that gathers would hang it."""

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        assert (progress, total, message) == (1, None, "began")
        let_go(path)

    async with site.client(site.keys[0], era) as client:
        done = await client.call_tool(HOLD, {"path": str(path)}, progress_callback=on_progress)
        assert words(done) in NAMES


async def lies_count_for_nothing(site: Site) -> None:
    """What a client says of itself, or of the host that it means."""
    headers = with_token("tc_guessed") | {"X-Forwarded-For": "203.0.113.9"}
    assert (await site.ask(headers, rpc("ping"))).status == 401
    assert (await site.ask({"Host": "evil.example"}, verb="GET", path="/health")).status == 421
    logs = "".join(each.log for each in site.gateways)
    assert f"client={CLIENT} status=401" in logs
    assert "203.0.113.9" not in logs


async def an_end_costs_nobody_anything(site: Site, path: Path) -> Replica:
    """SIGTERM while calls of both eras run there; the gateway that ended."""
    homes = await site.homes()
    key, home = next(iter(homes.items()))
    gateway = site.gateway(home)
    session = (await site.open_session(key)).headers["mcp-session-id"]
    modern, legacy = Path(f"{path}-modern"), Path(f"{path}-legacy")
    running = [
        asyncio.create_task(site.call(key, HOLD, path=str(modern))),
        asyncio.create_task(site.call_in(session, key, HOLD, path=str(legacy))),
    ]
    await until_async(lambda: has_begun(modern) and has_begun(legacy), "both calls run")
    gateway.signal(signal.SIGTERM)
    await until_async(lambda: "draining" in gateway.log, "it drains")
    for each in homes:
        assert text(await site.call(each)) in NAMES, "served by it, or by another"
    assert (await site.open_session(key)).status == 200, "a new session begins elsewhere"
    let_go(modern)
    let_go(legacy)
    assert [text(each) for each in await asyncio.gather(*running)] == [home, home]
    await until_async(lambda: gateway.process.poll() is not None, "it ends")
    assert gateway.process.returncode == 0
    after = await site.homes()
    moved = {each for each in homes if after[each] != homes[each]}
    assert moved == {each for each in homes if homes[each] == home}, "only its own have moved"
    assert (await site.call_in(session, key)).status == 404, "the client begins again"
    session = (await site.open_session(key)).headers["mcp-session-id"]
    assert text(await site.call_in(session, key)) == after[key]
    return gateway


async def a_kill_costs_only_its_own_connections(site: Site, path: Path) -> None:
    """SIGKILL while calls run, there and elsewhere."""

    async def all_are_home() -> bool:
        return set((await site.homes()).values()) == set(NAMES)

    await until_async(all_are_home, "the one that ended has its clients back")
    homes = await site.homes()
    key, home = next(iter(homes.items()))
    other = next(each for each in homes if homes[each] != home)
    lost, kept = Path(f"{path}-lost"), Path(f"{path}-kept")
    ended = asyncio.create_task(site.call(key, HOLD, path=str(lost)))
    running = asyncio.create_task(site.call(other, HOLD, path=str(kept)))
    await until_async(lambda: has_begun(lost) and has_begun(kept), "both calls run")
    site.gateway(home).signal(signal.SIGKILL)
    assert (await ended).status in {0, 200, 502}, "its own connection ends"
    let_go(kept)
    assert text(await running) == homes[other]
    for each in homes:
        assert text(await site.call(each)) in set(NAMES) - {home}


def has_begun(path: Path) -> bool:
    return Path(f"{path}.began").exists()


def let_go(path: Path) -> None:
    Path(f"{path}.go").touch()
