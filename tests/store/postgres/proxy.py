"""A network between a client and a server, for tests that let it swallow what is sent."""

import socket
from contextlib import suppress
from threading import Event, Thread
from typing import Self
from urllib.parse import urlsplit

from toolcrib.store.postgres import DatabaseAddress


class TcpProxy:
    """Passes bytes both ways, until it is told to keep them: a black hole answers nothing."""

    def __init__(self, behind: DatabaseAddress) -> None:
        self._behind = behind
        self._server = socket.create_server(("127.0.0.1", 0))
        self._passes = Event()
        self._passes.set()
        self._closed = False
        self._sockets: list[socket.socket] = [self._server]
        self._threads: list[Thread] = []

    @property
    def address(self) -> DatabaseAddress:
        port = self._server.getsockname()[1]
        parts = urlsplit(self._behind.text)
        return DatabaseAddress(f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}")

    def swallow(self) -> None:
        """From now on nothing comes through, and nobody is told."""
        self._passes.clear()

    def restore(self) -> None:
        """Pass bytes again, on the connections of before too."""
        self._passes.set()

    def reset(self) -> None:
        """End all connections at once."""
        for each in self._sockets[1:]:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        self._passes.set()
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for each in self._threads:
            each.join()
        for each in self._sockets:
            each.close()

    def _accept(self) -> None:
        parts = urlsplit(self._behind.text)
        while not self._closed:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            server = socket.create_connection((parts.hostname, parts.port))
            self._sockets += [client, server]
            self._start(self._pump, client, server)
            self._start(self._pump, server, client)

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while content := one.recv(1 << 16):
                self._passes.wait()
                other.sendall(content)
        with suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)

    def _start(self, run, *arguments: object) -> None:
        thread = Thread(target=run, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()
