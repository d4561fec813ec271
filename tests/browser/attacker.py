"""A web server of somebody else on this machine, which hears what it is sent."""

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = b"<!doctype html><title>A harmless page</title><p>Hello"


class Attacker:
    """Where it is, and the headers of each request that came."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.heard: list[Mapping[str, str]] = []

    def at(self, host: str) -> str:
        """Its address, by any name of this machine."""
        return f"http://{host}:{self.port}/"


@contextmanager
def attacker() -> Generator[Attacker]:
    """It serves meanwhile."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.heard.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(PAGE)))
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
            """Says nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A browser that has hung up is no error."""

    server = Server(("127.0.0.1", 0), Handler)
    made = Attacker(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
