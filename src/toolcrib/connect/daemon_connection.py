"""Reaches the daemon, and starts it where there is none: once, however many shims come at once.

The first line of a shim says who comes and for which profile; the answer, whether that is fine.
After them both sides speak what the client speaks on stdio, line by line.
"""

import json
import os
import select
import socket
import sys
import time
from collections.abc import Mapping

from toolcrib.connect.arguments import ConnectOptions
from toolcrib.connect.daemon_files import (
    KEY_VARIABLE,
    DaemonFiles,
    NoDaemon,
    locate_daemon,
    make_daemon_folder,
    read_daemon_info,
)

PROTOCOL = 1
MOST_BYTES = 8 * 1024
ANSWER_S = 15.0


class DaemonRefused(NoDaemon):
    """The daemon is there and does not serve us. Starting another would not help."""


def connect_to_daemon(
    place: DaemonFiles, profile: str, environ: Mapping[str, str]
) -> socket.socket | None:
    """A connection that the daemon has welcomed; None without one. Raises `DaemonRefused`."""
    runtime = read_daemon_info(place)
    if runtime is None:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(ANSWER_S)
    try:
        connection.connect(runtime.socket)
        hello = {"toolcrib": PROTOCOL, "profile": profile, "pid": os.getpid()}
        if environ.get(KEY_VARIABLE):
            hello["key"] = environ[KEY_VARIABLE]
        connection.sendall(json.dumps(hello).encode() + b"\n")
        problem = _refusal(connection)
    except OSError:
        connection.close()
        return None
    if problem:
        connection.close()
        raise DaemonRefused(problem)
    connection.settimeout(None)
    return connection


def _refusal(connection: socket.socket) -> str:
    """Why it was refused; empty if it was not. Raises `OSError` if there was no answer."""
    line = b""
    while not line.endswith(b"\n"):
        more = connection.recv(MOST_BYTES)  # one line, for the daemon says no more unasked
        if not more or len(line) > MOST_BYTES:
            raise OSError("the daemon hung up")
        line += more
    match json.loads(line):
        case {"toolcrib": 1, "error": str(problem)}:
            return problem
        case {"toolcrib": 1}:
            return ""
        case _:
            return "another version of the daemon runs; stop it: `toolcrib gateway stop`"


# Reaches the daemon, and starts it where there is none: once, however many shims come at once.

START_S = 60.0
TAIL_BYTES = 4_000
READY_LINE = b"ready\n"


class DaemonConnector:
    """One attempt to reach the daemon, step by step: nothing here waits long."""

    def __init__(
        self,
        asked: ConnectOptions,
        environ: Mapping[str, str],
        start_s: float = START_S,
        *,
        may_start: bool = True,
    ) -> None:
        self._asked = asked
        self._environ = environ
        self._place: DaemonFiles = locate_daemon(asked, environ)
        self._start_s = start_s
        self._until = time.monotonic() + start_s
        self.may_start = may_start
        self._lock = -1
        self._ready = -1

    def step(self) -> socket.socket | None:
        """The connection, or None: call again soon. Raises `NoDaemon` when there is no hope."""
        make_daemon_folder(self._place)
        if not self.may_start:
            return connect_to_daemon(self._place, self._asked.profile, self._environ)
        return self._stepped()

    def insist(self) -> None:
        """Start one from now on, if there is none."""
        if not self.may_start:
            self.may_start, self._until = True, time.monotonic() + self._start_s

    def _stepped(self) -> socket.socket | None:
        connection = connect_to_daemon(self._place, self._asked.profile, self._environ)
        if connection is None and self._ready >= 0:
            self._look()
        elif connection is None and self._has_lock():
            # Whoever had it before may have just brought the daemon up.
            connection = connect_to_daemon(self._place, self._asked.profile, self._environ)
            if connection is None:
                self._start()
        if connection is None and time.monotonic() > self._until:
            raise NoDaemon(f"the daemon takes too long to start{self._tail()}")
        return connection

    def close(self) -> None:
        """Let others start it, if nobody has by now."""
        for descriptor in (self._ready, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._ready = self._lock = -1

    def _has_lock(self) -> bool:
        if self._lock < 0:
            self._lock = os.open(self._place.starting, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        import fcntl  # noqa: PLC0415 - not there on every system

        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _start(self) -> None:
        import subprocess  # noqa: PLC0415 - only the first shim of all needs it

        python = [sys.executable, "-P", "-m"]
        command = [*python, "toolcrib.connect.double_fork", *python, "toolcrib.cli", *self._words()]
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        said = os.open(self._place.started, flags, 0o600)
        self._ready, ready = os.pipe()
        try:
            subprocess.run(  # noqa: S603 - our own interpreter, no shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=ready,
                stderr=said,
                env={name: value for name, value in self._environ.items() if name != KEY_VARIABLE},
                cwd=_home(),
                check=False,
            )
        except OSError as error:
            raise NoDaemon(f"the daemon cannot be started: {error}") from error
        finally:
            os.close(said)
            os.close(ready)

    def _words(self) -> list[str]:
        """`serve`, for the same settings, whatever the folder that it runs in."""
        words = ["--config", os.path.abspath(self._asked.config)] if self._asked.config else []
        for path in self._asked.mcp_config:
            words += ["--mcp-config", os.path.abspath(path)]
        return [*words, "serve", "--detached"]

    def _look(self) -> None:
        """See whether the daemon that we started has given up. Raises `NoDaemon` if so."""
        readable, _, _ = select.select([self._ready], [], [], 0)
        if readable and not os.read(self._ready, len(READY_LINE)):
            raise NoDaemon(f"the daemon ended while it started{self._tail()}")

    def _tail(self) -> str:
        """The last of what it said, for whoever has to mend it."""
        try:
            with open(self._place.started, "rb") as file:
                said = file.read()[-TAIL_BYTES:].decode(errors="replace").strip()
        except OSError:
            said = ""
        return f": {said}" if said else "; `toolcrib serve` in a terminal says why"


def _home() -> str:
    """Where the daemon runs: it is everybody's, so not in the folder of whoever came first."""
    home = os.path.expanduser("~")
    return home if os.path.isdir(home) else "/"
