"""A relay that adds the key to each request: the conformance suite has no way to send one.

Each connection carries one request. Host and Origin come through as they are, but that our own
port in them becomes the gateway's.
"""

import socketserver
import threading
from collections.abc import Generator
from contextlib import contextmanager
from socket import SHUT_WR, create_connection, socket
from typing import cast

END = b"\r\n\r\n"


@contextmanager
def relay_to(port: int, key: str) -> Generator[str]:
    """A relay to the gateway on this port; its address."""
    with Relay(port, key) as relay:
        thread = threading.Thread(target=relay.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{relay.server_address[1]}/mcp"
        finally:
            relay.shutdown()
            thread.join()


class Relay(socketserver.ThreadingTCPServer):
    """Listens on a free port."""

    daemon_threads = True

    def __init__(self, port: int, key: str) -> None:
        super().__init__(("127.0.0.1", 0), OneRequest)
        self.port = port
        self.key = key


class OneRequest(socketserver.BaseRequestHandler):
    """The head of a request with the key in it; everything else byte by byte."""

    def handle(self) -> None:
        server, client = cast("Relay", self.server), cast("socket", self.request)
        head, body = _head(client)
        if not head:
            return
        with create_connection(("127.0.0.1", server.port)) as gateway:
            gateway.sendall(_with_key(head, server) + END + body)
            threading.Thread(target=_pour, args=(client, gateway), daemon=True).start()
            _pour(gateway, client)


def _head(client: socket) -> tuple[bytes, bytes]:
    """The head of a request, and what came along of its body; nothing if it is cut off."""
    read = b""
    while END not in read:
        more = client.recv(65536)
        if not more:
            return b"", b""
        read += more
    head, _, body = read.partition(END)
    return head, body


def _with_key(head: bytes, server: Relay) -> bytes:
    ours, theirs = (f":{port}".encode() for port in (server.server_address[1], server.port))
    first, *lines = head.split(b"\r\n")
    kept = [
        line.replace(ours, theirs) if line.lower().startswith((b"host:", b"origin:")) else line
        for line in lines
        if not line.lower().startswith(b"connection:")
    ]
    key = f"Authorization: Bearer {server.key}".encode()
    return b"\r\n".join([first, key, b"Connection: close", *kept])


def _pour(source: socket, target: socket) -> None:
    """All that comes, until there is no more."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(SHUT_WR)
    except OSError:
        return
