"""A gateway that is bound to more than loopback, or by TLS, or behind a proxy."""

import asyncio
import os
import signal
import ssl
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.certificates import HOST, Authority
from tests.gateway.clients import asked
from tests.gateway.daemons import Answer, bare, new_key, parsed, request, serving, with_token
from tests.gateway.http.guarded import JSON, Guarded
from tests.gateway.live_daemon import LiveDaemon
from tests.waiting import HANG_S, until_async
from toolcrib.errors import ConfigError
from toolcrib.gateway import daemon as daemons
from toolcrib.gateway.limits import ConnectionBounds
from toolcrib.http import TrustedProxies

Opened: TypeAlias = list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
PROXIED: dict[str, Any] = {
    "bind": "0.0.0.0",
    "behind_proxy": True,
    "trusted_proxies": ["127.0.0.2", "10.0.0.1"],
    "hosts": [HOST],
}


async def by_tls(at: tuple[str, int], context: ssl.SSLContext, path: str, **headers: str) -> Answer:
    reader, writer = await asyncio.open_connection(*at, ssl=context, server_hostname=HOST)
    named = {"Host": HOST, "Connection": "close", **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    writer.write(f"GET {path} HTTP/1.1\r\n{head}\r\n".encode())
    said = await reader.read()
    writer.close()
    return parsed(said)


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::1", "::"])
def test_it_serves_by_tls_on_any_address(tmp_path: Path, address: str):
    authority = Authority()
    certificate, key = authority.issue(tmp_path / "tls")
    tls = {"tls_certificate": certificate, "tls_key": key, "hosts": [HOST]}

    async def scenario() -> None:
        async with serving(tmp_path, bare(gateway={"bind": address, **tls})) as (daemon, _):
            reached = {"0.0.0.0": "127.0.0.1", "::": "127.0.0.1"}.get(address, address)
            at, context = (reached, daemon.port), authority.context()
            assert (await by_tls(at, context, "/health")).status == 200
            assert (await by_tls(at, context, "/mcp")).code == "unauthorized"
            elsewhere = await by_tls(at, context, "/health", Host="evil.example")
            assert elsewhere.code == "bad_host"

    asked(scenario)


def test_what_would_be_open_is_not_served(tmp_path: Path):
    async def scenario() -> None:
        with pytest.raises(ConfigError, match="in the clear"):
            async with serving(tmp_path, bare(gateway={"bind": "0.0.0.0"})):
                pass

    asked(scenario)


@pytest.fixture
def live(home: Path, tmp_path: Path) -> LiveDaemon:
    assert home
    return LiveDaemon(tmp_path)


@pytest.mark.parametrize("by_signal", [False, True])
def test_a_renewed_certificate_is_taken_without_a_word_and_by_sighup(
    live: LiveDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, by_signal: bool
):
    authority = Authority()
    certificate, key = authority.issue(tmp_path / "tls")
    paths = f'tls_certificate = "{certificate}"\ntls_key = "{key}"\n'
    live.write_settings(tables=f'[gateway]\nhosts = ["{HOST}"]\n{paths}')
    if by_signal:
        monkeypatch.setattr(daemons, "LOOK_S", 2 * HANG_S)

    async def shown(port: int) -> str:
        _, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=authority.context(), server_hostname=HOST
        )
        number = str(writer.get_extra_info("peercert")["serialNumber"])
        writer.close()
        return number

    async def scenario() -> None:
        async with live.serving() as daemon:
            first = await shown(daemon.port)
            authority.issue(tmp_path / "tls")
            if by_signal:
                os.kill(os.getpid(), signal.SIGHUP)

            async def is_another() -> bool:
                return await shown(daemon.port) != first

            await until_async(is_another, "the new certificate is shown")

    asked(scenario)


def test_settings_that_would_open_it_change_nothing(live: LiveDaemon):
    async def scenario() -> None:
        async with live.serving() as daemon:
            live.write_settings(tables='[gateway]\nbind = "0.0.0.0"\n')
            with pytest.raises(ConfigError, match="in the clear"):
                await daemon.reload()
            assert daemon.http.binding.address == "127.0.0.1"
            assert (await request(daemon.port, "GET", "/health")).status == 200

    asked(scenario)


def test_another_address_counts_from_the_next_start(
    live: LiveDaemon, caplog: pytest.LogCaptureFixture
):
    async def scenario() -> None:
        async with live.serving() as daemon:
            live.write_settings(tables='[gateway]\nbind = "127.0.0.2"\n')
            await daemon.reload()
            assert daemon.http.binding.address == "127.0.0.1"
            assert "until it is started again" in caplog.text

    asked(scenario)


@pytest.mark.plan(112)
def test_plain_http_beyond_loopback_is_for_the_proxies_alone(tmp_path: Path):
    guarded = Guarded(tmp_path, **PROXIED)
    for peer in ("10.0.0.2", "192.0.2.1", "2001:db8::1", "::ffff:10.0.0.2"):
        spoofed = guarded.right | {"x-forwarded-for": "127.0.0.1", "x-real-ip": "10.0.0.1"}
        assert guarded.ask(headers=spoofed, client=(peer, 1)).code == "not_proxied"
        assert guarded.ask("GET", "/ready", guarded.right, client=(peer, 1)).status == 200
    assert guarded.ask(headers=guarded.right, client=None).code == "not_proxied"
    assert not guarded.reached
    for peer in ("10.0.0.1", "::ffff:10.0.0.1", "127.0.0.1", "::1"):
        assert guarded.ask(headers=guarded.right, client=(peer, 1)).status == 200
        no_key = {"host": guarded.right["host"], "content-type": "application/json"}
        assert guarded.ask(headers=no_key, client=(peer, 1)).code == "unauthorized"


@pytest.mark.plan(112)
def test_the_log_has_the_clients_address_from_a_trusted_proxy_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    guarded = Guarded(tmp_path, **PROXIED)

    def logged(peer: str, forwarded: str) -> str:
        caplog.clear()
        headers = {"host": "evil.example", "x-forwarded-for": forwarded}
        assert guarded.ask(headers=headers, client=(peer, 1)).code == "bad_host"
        guarded.edge.edge_log._last.clear()
        return caplog.records[0].fields["client"]  # type: ignore[attr-defined]

    assert logged("10.0.0.1", "203.0.113.9") == "203.0.113.9"
    assert logged("10.0.0.1", "1.1.1.1, 203.0.113.9") == "203.0.113.9"
    assert logged("10.0.0.9", "203.0.113.9") == "10.0.0.9"


@pytest.mark.plan(48)
def test_behind_a_proxy_only_the_named_hosts_are_served(tmp_path: Path):
    guarded = Guarded(tmp_path, **PROXIED)
    for host, status in ((HOST, 200), (HOST.upper(), 200), (f"{HOST}:444", 421), ("evil.io", 421)):
        for path in ("/mcp", "/health", "/ready"):
            method = "POST" if path == "/mcp" else "GET"
            headers = guarded.right | {"host": host, "x-forwarded-host": HOST}
            assert guarded.ask(method, path, headers, client=("10.0.0.1", 1)).status == status


def test_the_connections_of_a_trusted_proxy_are_no_strangers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    settings = bare(gateway={**PROXIED, "trusted_proxies": ["127.0.0.1"]})
    monkeypatch.setattr(ConnectionBounds, "of", lambda _descriptors: ConnectionBounds(8, 40, 8))

    async def held(port: int) -> Opened:
        """Connections that say nothing, after one request behind them."""
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(30)]
        assert (await request(port, "GET", "/health")).status == 200
        await asyncio.sleep(0)
        return silent

    def left(opened: Opened) -> int:
        return sum(not reader.at_eof() for reader, _ in opened)

    async def scenario() -> None:
        async with serving(tmp_path, settings) as (daemon, _):
            of_proxy = await held(daemon.port)
            monkeypatch.setattr(TrustedProxies, "has", lambda _self, _peer: False)
            of_strangers = await held(daemon.port)
            assert left(of_proxy) == 30
            assert left(of_strangers) < 30
            for _, writer in [*of_proxy, *of_strangers]:
                writer.close()

    asked(scenario)


def test_whoever_comes_with_many_at_once_gets_an_answer(tmp_path: Path):
    """All connections are there before the first request is, and each has a good key."""
    count = 4 * 50

    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, _):
            settings = daemon.serving.crib.settings
            keys = [new_key(settings, f"key{n}") for n in range(4)]
            opened = [await asyncio.open_connection("127.0.0.1", daemon.port) for _ in range(count)]
            for n, (_, writer) in enumerate(opened):
                headers = with_token(keys[n % 4], Host=f"127.0.0.1:{daemon.port}")
                named = {**headers, "Content-Length": str(len(JSON)), "Connection": "close"}
                head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
                writer.write(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + JSON)
            answers = [parsed(await reader.read()) for reader, _ in opened]
            alone = await request(daemon.port, headers=with_token(keys[0]), body=JSON)
            assert alone.status == 400  # its key is good, and it says no version of the protocol
            assert [each.body for each in answers] == [alone.body] * count
            for _, writer in opened:
                writer.close()

    asked(scenario)


def test_it_serves_those_who_come_through_the_proxy(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path, bare(gateway=PROXIED)) as (daemon, at):
            headers = with_token(at.token, Host=HOST, X_Forwarded_For="203.0.113.9")
            assert (await request(daemon.port, headers=headers, body=JSON)).status != 403
            assert daemon.http.url.startswith("http://0.0.0.0:")

    asked(scenario)
