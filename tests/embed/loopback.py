"""A server on this machine that speaks the embeddings wire, well or as badly as a test asks."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, cast

import numpy as np

SIZE = 8

Request = dict[str, Any]
Respond = Callable[["Handler", Request], None]


@dataclass(frozen=True)
class Seen:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Loopback:
    """`script` holds what to do with the next requests; once it is empty, they are answered."""

    url: str = ""
    script: list[Respond] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    @property
    def inputs(self) -> list[list[str]]:
        return [json.loads(one.body)["input"] for one in self.seen]


class Server(ThreadingHTTPServer):
    daemon_threads = True
    loopback: Loopback

    def handle_error(self, request, client_address):
        """A client that has left is the point of some tests."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def loopback(self) -> Loopback:
        return cast("Server", self.server).loopback

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.loopback.seen.append(Seen(self.path, dict(self.headers), body))
        respond = self.loopback.script.pop(0) if self.loopback.script else answer
        respond(self, json.loads(body))

    def log_message(self, format, *args):  # noqa: A002 - the name in the base class
        """Tests are quiet."""

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def vector(text: str, size: int = SIZE) -> list[float]:
    """Of no particular length, and the same for the same text."""
    digest = sha256(text.encode()).digest()
    return (np.frombuffer(digest, dtype=np.uint8)[:size] - 127.5).tolist()


def embedding(index: int, text: str, size: int = SIZE) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": vector(text, size)}


def answer(handler: Handler, request: Request) -> None:
    size = request.get("dimensions", SIZE)
    data = [embedding(index, text, size) for index, text in enumerate(request["input"])]
    send_data(data)(handler, request)


def backwards(handler: Handler, request: Request) -> None:
    data = [embedding(index, text) for index, text in enumerate(request["input"])]
    send_data(data[::-1])(handler, request)


def send(status: int, body: bytes = b"", **headers: str) -> Respond:
    return lambda handler, _: handler.reply(status, body, **headers)


def send_data(data: object) -> Respond:
    return send(200, json.dumps({"object": "list", "data": data}).encode())


def hang_up(handler: Handler, request: Request) -> None:
    handler.close_connection = True


def hang(handler: Handler, request: Request) -> None:
    handler.loopback.over.wait()
    handler.close_connection = True


def drip(handler: Handler, request: Request) -> None:
    """Bytes that keep coming, so that no wait for the next one is ever long."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while not handler.loopback.over.wait(0.01):
        handler.wfile.write(b" ")
        handler.wfile.flush()


@contextmanager
def serving() -> Generator[Loopback]:
    with Server(("127.0.0.1", 0), Handler) as server:
        server.loopback = Loopback(f"http://127.0.0.1:{server.server_port}/v1")
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.loopback
        finally:
            server.loopback.over.set()
            server.shutdown()
            thread.join()
