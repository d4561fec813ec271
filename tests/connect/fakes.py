"""A daemon that says what a test wants, and a client at the other end of a shim."""

import json
import os
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.waiting import HANG_S
from toolcrib.connect import (
    ConnectOptions,
    DaemonFiles,
    DaemonInfo,
    locate_daemon,
)
from toolcrib.connect.shim import Shim
from toolcrib.system import RUN_FOLDER_VARIABLE


def environ(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder), RUN_FOLDER_VARIABLE: str(folder / "run")}


def files_in(folder: Path) -> DaemonFiles:
    return locate_daemon(ConnectOptions(), environ(folder))


Reply = Callable[[dict[str, Any]], dict[str, Any] | None]


def echoing(said: dict[str, Any]) -> dict[str, Any] | None:
    """An answer to every request, with its method; none to `hang`."""
    if "id" not in said or said.get("method") in {None, "hang", "tools/call"}:
        return None
    return {"jsonrpc": "2.0", "id": said["id"], "result": {"method": said["method"]}}


class FakeDaemon:
    """Listens at a place, says hello, and replies as it is told. `heard` is all it was sent."""

    def __init__(self, place: DaemonFiles, reply: Reply = echoing, hello: str = "") -> None:
        place.make_folder()
        self.heard: list[dict[str, Any]] = []
        self.hellos: list[dict[str, Any]] = []
        self._place, self._reply, self._hello = place, reply, hello
        self._connections: list[socket.socket] = []
        with suppress(FileNotFoundError):
            Path(place.socket).unlink()
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(place.socket)
        self._listening.listen()
        runtime = DaemonInfo(os.getpid(), place.socket, place.operator, 1, "0")
        Path(place.info).write_text(json.dumps(runtime._asdict()), encoding="utf-8")
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def say(self, **message: Any) -> None:
        """Say this to whoever came last."""
        self._connections[-1].sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def end(self) -> None:
        """As if it was killed: the file stays."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(HANG_S)  # no connection comes after that
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError, ValueError), connection.makefile("rb") as lines:
            self.hellos.append(json.loads(lines.readline()))
            said = {"toolcrib": 1} | ({"error": self._hello} if self._hello else {})
            connection.sendall(json.dumps(said).encode() + b"\n")
            for line in lines:
                message = json.loads(line)
                self.heard.append(message)
                answer = self._reply(message)
                if answer:
                    connection.sendall(json.dumps(answer).encode() + b"\n")


class Client:
    """A client that has launched a shim."""

    def __init__(self, into: int, out: int) -> None:
        self._into = into
        self._out = os.fdopen(out, "rb")

    def say(self, method: str, id: object = None, **params: Any) -> None:
        said: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        self.send(json.dumps(said | ({} if id is None else {"id": id})).encode() + b"\n")

    def send(self, raw: bytes) -> None:
        while raw:
            raw = raw[os.write(self._into, raw) :]

    def hear(self) -> dict[str, Any]:
        return json.loads(self._out.readline())

    def end(self) -> bytes:
        """End, and hear what is left."""
        if self._into >= 0:
            os.close(self._into)
            self._into = -1
        return self._out.read()

    def close(self) -> None:
        self.end()
        self._out.close()


@contextmanager
def launched(folder: Path, *, start_s: float = HANG_S, **asked: Any) -> Generator[Client]:
    """A shim in a thread, and its client."""
    stdin, into = os.pipe()
    out, stdout = os.pipe()
    shim = Shim(ConnectOptions(**asked), environ(folder), stdin, stdout, start_s=start_s)

    def run() -> None:
        try:
            shim.run()
        finally:
            os.close(stdin)
            os.close(stdout)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    client = Client(into, out)
    try:
        yield client
    finally:
        client.close()
        thread.join(HANG_S)
        assert not thread.is_alive()
