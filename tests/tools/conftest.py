"""What tools need: folders that they may touch, and a web server on this machine."""

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from toolcrib.tools import Roots, working_in


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, home: Path) -> Iterator[None]:
    """File tools may touch what a test makes."""
    with working_in(Roots([tmp_path, home])):
        yield


class Server(ThreadingHTTPServer):
    """Answers what `pages` says, path → (status, headers, body), and remembers what was `seen`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.pages: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.seen: list[tuple[str, dict[str, str]]] = []


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        assert isinstance(self.server, Server)
        self.server.seen.append((self.path, dict(self.headers)))
        status, headers, body = self.server.pages.get(self.path, (404, {}, b"nothing here"))
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the client may have had enough
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
