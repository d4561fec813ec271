"""Reaches the daemon, and starts it where there is none: once, however many shims come at once.

The first line of a shim says who comes and for which profile; the answer says whether that is fine.
After that both sides speak what the client speaks on stdio, line by line.
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
)

PROTOCOL = 1
MOST_BYTES = 8 * 1024
ANSWER_S = 15.0
START_S = 60.0
TAIL_BYTES = 4_000
READY_LINE = b"ready\n"
"""What a daemon writes to the shim that started it, once it serves."""


class DaemonRefused(NoDaemon):
    """The daemon is there and does not serve us. Starting another would not help."""


def connect_to_daemon(
    files: DaemonFiles, profile: str, environ: Mapping[str, str]
) -> socket.socket | None:
    """A connection that the daemon has welcomed; None without one. Raises `DaemonRefused`."""
    info = files.read_info()
    if info is None:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(ANSWER_S)
    try:
        connection.connect(info.socket)
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
    """Why the daemon refuses us; empty if it does not. Raises `OSError` without an answer."""
    line = b""
    while not line.endswith(b"\n"):
        more = connection.recv(MOST_BYTES)  # one line: the daemon sends no more unasked
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


class DaemonConnector:
    """One attempt to reach the daemon, step by step: no step waits long."""

    def __init__(
        self,
        options: ConnectOptions,
        environ: Mapping[str, str],
        start_s: float = START_S,
        *,
        may_start: bool = True,
    ) -> None:
        self._options = options
        self._environ = environ
        self._files: DaemonFiles = locate_daemon(options, environ)
        self._start_s = start_s
        self._until = time.monotonic() + start_s
        self.may_start = may_start
        self._lock = -1
        self._ready = -1
        self._is_first = True

    def step(self) -> socket.socket | None:
        """The connection, or None: call again soon. Raises `NoDaemon` when there is no hope.

        The first step starts none, which takes a moment: the client may have said something.
        """
        self._files.make_folder()
        is_first, self._is_first = self._is_first, False
        if is_first or not self.may_start:
            return connect_to_daemon(self._files, self._options.profile, self._environ)
        return self._reach_or_start()

    def insist(self) -> None:
        """Start one from now on, if there is none."""
        if not self.may_start:
            self.may_start, self._until = True, time.monotonic() + self._start_s

    def _reach_or_start(self) -> socket.socket | None:
        connection = connect_to_daemon(self._files, self._options.profile, self._environ)
        if connection is None and self._ready >= 0:
            self._check_start()
        elif connection is None and self._has_lock():
            # Who had it before may have just brought the daemon up.
            connection = connect_to_daemon(self._files, self._options.profile, self._environ)
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
            self._lock = os.open(
                self._files.start_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        import fcntl  # noqa: PLC0415 - not there on every system

        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _start(self) -> None:
        import subprocess  # noqa: PLC0415 - only the first shim of all needs it

        python = [sys.executable, "-P", "-m"]
        command = [
            *python,
            "toolcrib.connect.double_fork",
            *python,
            "toolcrib.cli",
            *self._arguments(),
        ]
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        output = os.open(self._files.start_log, flags, 0o600)
        self._ready, ready = os.pipe()
        try:
            subprocess.run(  # noqa: S603 - our own interpreter, no shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=ready,
                stderr=output,
                env={name: value for name, value in self._environ.items() if name != KEY_VARIABLE},
                cwd=_home(),
                check=False,
            )
        except OSError as error:
            raise NoDaemon(f"the daemon cannot be started: {error}") from error
        finally:
            os.close(output)
            os.close(ready)

    def _arguments(self) -> list[str]:
        """`serve`, for the same settings, whatever the folder that it runs in."""
        arguments = (
            ["--config", os.path.abspath(self._options.config)] if self._options.config else []
        )
        for path in self._options.mcp_config:
            arguments += ["--mcp-config", os.path.abspath(path)]
        return [*arguments, "serve", "--detached"]

    def _check_start(self) -> None:
        """Raises `NoDaemon` if the daemon that we started has given up."""
        readable, _, _ = select.select([self._ready], [], [], 0)
        if readable and not os.read(self._ready, len(READY_LINE)):
            raise NoDaemon(f"the daemon ended while it started{self._tail()}")

    def _tail(self) -> str:
        """The end of what it printed, for the person who has to mend it."""
        try:
            with open(self._files.start_log, "rb") as file:
                tail = file.read()[-TAIL_BYTES:].decode(errors="replace").strip()
        except OSError:
            tail = ""
        return f": {tail}" if tail else "; `toolcrib serve` in a terminal says why"


def _home() -> str:
    """Where the daemon runs: all share it, so not in the folder of the client that came first."""
    home = os.path.expanduser("~")
    return home if os.path.isdir(home) else "/"
