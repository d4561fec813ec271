"""How answers go out: a head together with its body, and nothing is held back. Who is ended."""

import asyncio
from asyncio import selector_events
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from tests.waiting import HANG_S, let_pass_async
from toolcrib.http import (
    AUTHENTICATED,
    App,
    Receive,
    Scope,
    Send,
    WebLimits,
    WebServer,
    listen_on_loopback,
)

Chunks = list[bytes]


def answering(headers: list[tuple[bytes, bytes]], bodies: Chunks, status: int = 200) -> App:
    """An app that sends a head, and then these pieces of a body."""

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for number, body in enumerate(bodies, 1):
            more = number < len(bodies)
            await send({"type": "http.response.body", "body": body, "more_body": more})

    return app


def sized(body: bytes) -> list[tuple[bytes, bytes]]:
    return [(b"content-length", b"%d" % len(body))]


def written(app: App, verb: str, monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, Chunks]:
    """What a client reads of two requests on one connection, and what the server wrote for it."""
    packets: Chunks = []
    loops: Any = selector_events
    kind = loops._SelectorSocketTransport
    write = kind.write

    async def run() -> bytes:
        listening = listen_on_loopback(0, "x")
        port = listening.getsockname()[1]
        server = WebServer(app, WebLimits(10, 10))
        serving = asyncio.create_task(server.serve_on(listening))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        def noted(self: asyncio.Transport, data: bytes) -> None:
            if self is not writer.transport and data:
                packets.append(bytes(data))
            write(self, data)

        monkeypatch.setattr(kind, "write", noted)
        heard = bytearray()
        for _ in range(2):
            writer.write(f"{verb} / HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            heard += await reader.read(1_000)
        writer.close()
        server.should_exit = True
        await serving
        return bytes(heard)

    heard = asyncio.run(asyncio.wait_for(run(), HANG_S))
    return heard, packets


@pytest.mark.parametrize(("verb", "body"), [("GET", b"yes"), ("GET", b""), ("HEAD", b"yes")])
def test_a_head_and_its_body_are_one_packet(
    verb: str, body: bytes, monkeypatch: pytest.MonkeyPatch
):
    heard, packets = written(answering(sized(body), [body]), verb, monkeypatch)
    assert len(packets) == 2
    assert heard.count(b"HTTP/1.1 200") == 2
    assert heard.endswith(b"yes") == (verb == "GET" and body == b"yes")


def test_a_stream_begins_before_there_is_something_in_it():
    let_go = asyncio.Event()

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        kind = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": kind})
        await let_go.wait()
        await send({"type": "http.response.body", "body": b"late"})

    async def run() -> tuple[bytes, bytes]:
        listening = listen_on_loopback(0, "x")
        server = WebServer(app, WebLimits(10, 10))
        serving = asyncio.create_task(server.serve_on(listening))
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        let_go.set()
        rest = await reader.readuntil(b"0\r\n\r\n")
        writer.close()
        server.should_exit = True
        await serving
        return head, rest

    head, rest = asyncio.run(asyncio.wait_for(run(), HANG_S))
    assert head.startswith(b"HTTP/1.1 200")
    assert b"late" in rest


def test_the_head_of_an_app_that_fails_is_sent_before_the_end(monkeypatch: pytest.MonkeyPatch):
    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": sized(b"yes")})
        raise RuntimeError("broken")

    async def run() -> bytes:
        listening = listen_on_loopback(0, "x")
        server = WebServer(app, WebLimits(10, 10))
        serving = asyncio.create_task(server.serve_on(listening))
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        heard = await reader.read()
        writer.close()
        server.should_exit = True
        await serving
        return heard

    assert asyncio.run(asyncio.wait_for(run(), HANG_S)).startswith(b"HTTP/1.1 200")


HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.plan(51)
def test_a_request_that_waits_for_us_is_not_ended_for_others_who_say_nothing():
    """Its head is there, and whether its credential is good is for us to find out."""
    let_go = asyncio.Event()

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await let_go.wait()
        await answering(sized(b"yes"), [b"yes"])(_scope, _receive, send)

    async def run() -> list[bytes]:
        async with serving(app, WebLimits(8, 8)) as address:
            asking = [await asked(address) for _ in range(6)]
            await let_pass_async(0.05)
            silent = [await asyncio.open_connection(*address) for _ in range(12)]
            for reader, _ in silent[:10]:
                await hung_up(reader)
            let_go.set()
            heard = [await reader.read(1_000) for reader, _ in asking]
            for _, writer in [*asking, *silent]:
                writer.close()
            return heard

    heard = asyncio.run(asyncio.wait_for(run(), HANG_S))
    assert [each.endswith(b"yes") for each in heard] == [True] * 6


@pytest.mark.parametrize("is_known", [True, False])
def test_who_has_an_answer_and_no_credential_makes_room_for_others(is_known: bool):
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if is_known:
            scope["state"][AUTHENTICATED]()
        await answering(sized(b"yes"), [b"yes"])(scope, receive, send)

    async def run() -> bool:
        async with serving(app, WebLimits(4, 4)) as address:
            reader, writer = await asked(address)
            await reader.readuntil(b"yes")
            others = [await asyncio.open_connection(*address) for _ in range(9)]
            await hung_up(others[0][0])
            writer.write(HEAD)
            stays = b"yes" in await read_on(reader)
            for _, other in [*others, (None, writer)]:
                other.close()
            return stays

    assert asyncio.run(asyncio.wait_for(run(), HANG_S)) == is_known


@asynccontextmanager
async def serving(app: App, limits: WebLimits) -> AsyncGenerator[tuple[str, int]]:
    listening = listen_on_loopback(0, "x")
    address: tuple[str, int] = listening.getsockname()
    server = WebServer(app, limits)
    task = asyncio.create_task(server.serve_on(listening))
    try:
        yield address
    finally:
        server.should_exit = True
        await task


async def asked(address: tuple[str, int]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(*address)
    writer.write(HEAD)
    return reader, writer


async def read_on(reader: asyncio.StreamReader) -> bytes:
    """What comes next; nothing if the other end hung up."""
    with suppress(ConnectionError):
        return await reader.read(1_000)
    return b""


async def hung_up(reader: asyncio.StreamReader) -> None:
    assert not await read_on(reader)
