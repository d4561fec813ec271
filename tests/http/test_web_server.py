"""How answers go out: a head together with its body, and nothing is held back."""

import asyncio
from asyncio import selector_events
from typing import Any

import pytest

from tests.waiting import HANG_S
from toolcrib.http import App, Receive, Scope, Send, WebLimits, WebServer, listen_on_loopback

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
        server = WebServer(app, WebLimits(10, 10, 10))
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
        server = WebServer(app, WebLimits(10, 10, 10))
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
        server = WebServer(app, WebLimits(10, 10, 10))
        serving = asyncio.create_task(server.serve_on(listening))
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        heard = await reader.read()
        writer.close()
        server.should_exit = True
        await serving
        return heard

    assert asyncio.run(asyncio.wait_for(run(), HANG_S)).startswith(b"HTTP/1.1 200")
