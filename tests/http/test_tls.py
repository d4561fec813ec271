"""TLS by a web server of ours, with real connections."""

import asyncio
import contextlib
import ssl
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.certificates import HOST, Authority
from tests.gateway.clients import asked
from tests.waiting import HANG_S, until_async
from toolcrib.errors import ConfigError
from toolcrib.http import (
    Certificate,
    Receive,
    Scope,
    Send,
    WebLimits,
    WebServer,
    listen_on,
    send_json,
    web_server,
)


@pytest.fixture
def authority() -> Authority:
    return Authority()


async def scheme(scope: Scope, _receive: Receive, send: Send) -> None:
    await send_json(200, {"scheme": scope["scheme"]}, send)


@asynccontextmanager
async def serving(certificate: Certificate, most: int = 100) -> AsyncGenerator[int]:
    listening = listen_on("127.0.0.1", 0)
    web = WebServer(scheme, WebLimits(most, 4), context=certificate.context)
    task = asyncio.create_task(web.serve_on(listening))
    try:
        yield listening.getsockname()[1]
    finally:
        web.should_exit = True
        await task


async def ask(port: int, context: ssl.SSLContext, name: str | None = HOST) -> tuple[bytes, str]:
    """What is answered, and the serial number of the certificate that was shown."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, server_hostname=name
    )
    shown = writer.get_extra_info("peercert")
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return answer, str(shown.get("serialNumber"))


def test_it_answers_by_tls_alone(tmp_path: Path, authority: Authority):
    certificate = Certificate(*authority.issue(tmp_path))

    async def run() -> None:
        async with serving(certificate) as port:
            answer, _ = await ask(port, authority.context())
            assert b'"scheme": "https"' in answer
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                assert b"HTTP/1.1 200" not in await reader.read()
            writer.close()
            with pytest.raises(ssl.SSLCertVerificationError):
                await ask(port, ssl.create_default_context())

    asked(run)


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_older_tls_than_1_2_is_refused(tmp_path: Path, authority: Authority):
    certificate = Certificate(*authority.issue(tmp_path))

    async def run() -> None:
        async with serving(certificate) as port:
            for newest, is_taken in (
                (ssl.TLSVersion.TLSv1_1, False),
                (ssl.TLSVersion.TLSv1_2, True),
            ):
                context = authority.context()
                context.set_ciphers("ALL:@SECLEVEL=0")
                context.minimum_version = ssl.TLSVersion.TLSv1
                context.maximum_version = newest
                if is_taken:
                    await ask(port, context)
                else:
                    with pytest.raises((ssl.SSLError, ConnectionError)):
                        await ask(port, context)

    asked(run)


def test_a_renewed_certificate_is_shown_to_whoever_comes_next(tmp_path: Path, authority: Authority):
    files = authority.issue(tmp_path)
    certificate = Certificate(*files)

    async def run() -> None:
        async with serving(certificate) as port:
            _, before = await ask(port, authority.context())
            assert not certificate.look(*files)
            authority.issue(tmp_path)
            assert certificate.look(*files)
            _, after = await ask(port, authority.context())
            assert after != before
            without_name = authority.context()
            without_name.check_hostname = False
            assert (await ask(port, without_name, ""))[1] == after

    asked(run)


def test_half_a_renewal_changes_nothing(tmp_path: Path, authority: Authority):
    files = authority.issue(tmp_path / "a")
    new = authority.issue(tmp_path / "b")
    certificate = Certificate(*files)

    async def run() -> None:
        async with serving(certificate) as port:
            _, before = await ask(port, authority.context())
            files[0].write_bytes(new[0].read_bytes())
            with pytest.raises(ConfigError, match="key that belongs to it"):
                certificate.look(*files)
            assert not certificate.look(*files), "it is told once"
            assert (await ask(port, authority.context()))[1] == before
            files[1].write_bytes(new[1].read_bytes())
            assert certificate.look(*files)
            assert (await ask(port, authority.context()))[1] != before

    asked(run)


@pytest.mark.plan(51)
def test_who_never_ends_a_handshake_makes_room_for_others(
    tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(web_server, "HEAD_S", 36 * HANG_S)
    certificate = Certificate(*authority.issue(tmp_path))

    async def run() -> None:
        async with serving(certificate, most=8) as port:
            silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(40)]
            answer, _ = await ask(port, authority.context())
            assert b"200" in answer
            ended = [asyncio.ensure_future(hung_up(reader)) for reader, _ in silent]
            await until_async(lambda: sum(each.done() for each in ended) >= 32, "the oldest go")
            for each in ended:
                each.cancel()
            for _, writer in silent:
                writer.close()

    asked(run)


@pytest.mark.plan(51)
def test_who_never_ends_a_handshake_is_ended(
    tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(web_server, "HEAD_S", 0.3)
    certificate = Certificate(*authority.issue(tmp_path))

    async def run() -> None:
        async with serving(certificate) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            await hung_up(reader)
            writer.close()

    asked(run)


async def hung_up(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(ConnectionError):
        await reader.read()


def test_files_that_cannot_be_used_say_why(tmp_path: Path, authority: Authority):
    certificate, key = authority.issue(tmp_path / "a")
    _, other_key = authority.issue(tmp_path / "b")
    with pytest.raises(ConfigError, match=r"cannot be read.*gateway\.tls_certificate"):
        Certificate(tmp_path / "missing", key)
    with pytest.raises(ConfigError, match="key that belongs to it"):
        Certificate(certificate, other_key)
    with pytest.raises(ConfigError, match="PEM certificate"):
        Certificate(key, key)
    locked = tmp_path / "locked.pem"
    subprocess.run(
        ["openssl", "rsa", "-aes128", "-passout", "pass:secret", "-in", key, "-out", locked],
        check=False,
        capture_output=True,
    )
    if locked.exists():
        with pytest.raises(ConfigError, match="without a password"):
            Certificate(certificate, locked)
