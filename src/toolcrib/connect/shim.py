"""The loop between a client's pipes and the daemon's socket.

One thread, no libraries: it waits until either side can be read or written, and never for one side
alone. While there is no daemon, the messages of the client wait; for the first of them replies are
kept. When there can be no daemon, they are answered with the reason.
"""

import contextlib
import os
import select
import socket
import sys
import time
from collections import deque
from collections.abc import Mapping

from toolcrib.connect.arguments import ConnectOptions
from toolcrib.connect.daemon_connection import START_S, DaemonConnector
from toolcrib.connect.daemon_files import NEEDS_UNIX, NoDaemon, can_have_daemon, locate_daemon
from toolcrib.connect.first_replies import FirstReplies
from toolcrib.connect.loading_progress import LoadingProgress
from toolcrib.connect.messages import (
    LONGEST_LINE,
    NOT_STARTED,
    PARSE_ERROR,
    LineSplitter,
    Message,
    failure,
    read_message,
)
from toolcrib.connect.pending_requests import PendingRequests

CHUNK = 256 * 1024
MOST_WAITING = 2 * LONGEST_LINE
POLL_S = 0.02
RETRY_S = 5.0
LAST_WORDS_S = 60.0
LISTEN = "subscriptions/listen"


class Shim:
    """One client at `stdin` and `stdout`, and the daemon that serves it."""

    def __init__(
        self,
        options: ConnectOptions,
        environ: Mapping[str, str],
        stdin: int = 0,
        stdout: int = 1,
        *,
        start_s: float = START_S,
    ) -> None:
        self._options, self._environ, self._start_s = options, environ, start_s
        self._stdin, self._stdout = stdin, stdout
        self._first = FirstReplies(locate_daemon(options, environ), options.profile, environ)
        self._pending = PendingRequests(self._first)
        self._progress = LoadingProgress()
        self._daemon: socket.socket | None = None
        self._connector: DaemonConnector | None = DaemonConnector(options, environ, start_s)
        self._is_new = True
        self._failure = ""
        self._failed_at = 0.0
        self._from_client, self._from_daemon = LineSplitter(), LineSplitter()
        self._to_daemon: deque[Message] = deque()
        self._waiting = self._half_sent = 0
        self._to_client = bytearray()
        self._ended_at = 0.0

    def run(self) -> None:
        """Until the client has ended and has all its answers."""
        try:
            while not self._is_done():
                self._reach()
                self._turn()
        except BrokenPipeError:  # nobody listens any more
            return
        finally:
            for each in (self._connector, self._daemon):
                if each:
                    each.close()

    def _is_done(self) -> bool:
        if not self._ended_at:
            return False
        # Without a daemon, only what wants an answer is worth waiting for.
        unsent = any(self._daemon or _needs_answer(each) for each in self._to_daemon)
        settled = not unsent and not self._to_client and self._pending.is_settled
        return settled or time.monotonic() > self._ended_at + LAST_WORDS_S

    def _turn(self) -> None:
        """Wait until something can be read or written, and do that."""
        reading: list[int | socket.socket] = []
        writing: list[int | socket.socket] = []
        if not self._ended_at and self._waiting < MOST_WAITING:
            reading.append(self._stdin)
        if self._to_client:
            writing.append(self._stdout)
        if self._daemon and len(self._to_client) < MOST_WAITING:
            reading.append(self._daemon)
        if self._daemon and self._to_daemon:
            writing.append(self._daemon)
        pause = 1.0 if self._connector or self._ended_at else None
        if self._connector and self._connector.may_start:
            pause = POLL_S
            self._to_client += self._progress.take_due()
        readable, writable, _ = select.select(reading, writing, [], pause)
        if self._stdout in writable:
            self._write_client()
        if self._daemon in readable:
            self._read_daemon()
        if self._stdin in readable:
            self._read_client()
        # What was just read can mostly be sent at once: no second round for it.
        if self._daemon and self._to_daemon:
            self._write_daemon()

    def _read_client(self) -> None:
        chunk = os.read(self._stdin, CHUNK)
        if not chunk:
            self._ended_at = time.monotonic()
        for line in self._from_client.feed(chunk):
            if line is None:
                problem = f"a message of more than {LONGEST_LINE:,} bytes; send less"
                self._to_client += failure("", PARSE_ERROR, problem)
            elif line.strip():
                self._accept(read_message(line))
        if self._to_client:
            self._write_client(known_writable=False)

    def _accept(self, message: Message) -> None:
        if self._pending.is_stale(message):
            return
        if self._failure and time.monotonic() < self._failed_at + RETRY_S:
            self._refuse(message)
            return
        if not self._daemon and not self._connector:
            self._connector = DaemonConnector(self._options, self._environ, self._start_s)
        if self._connector and _needs_answer(message):
            self._connector.insist()
        if self._is_new:  # there was no daemon yet
            reply = self._first.reply(message.line)
            self._to_client += reply
            if not reply:
                self._progress.add(message.line)
        self._queue(message)

    def _queue(self, message: Message) -> None:
        self._to_daemon.append(message)
        self._waiting += len(message.line)

    def _reach(self) -> None:
        """One step nearer to a daemon, if there is none."""
        if not self._connector:
            return
        try:
            connection = self._connector.step()
        except (NoDaemon, OSError) as error:
            self._connector.close()
            self._connector = None
            self._give_up(str(error))
            return
        if connection:
            self._connector.close()
            self._connector = None
            connection.settimeout(0)
            self._daemon, self._failure, self._half_sent = connection, "", 0
            self._from_daemon = LineSplitter()
            if not self._is_new:
                self._to_client += b"".join(self._pending.notifications())
            self._is_new = False
            self._progress.end()

    def _give_up(self, why: str) -> None:
        """Answer every request that waits with the reason."""
        self._failure, self._failed_at = why, time.monotonic()
        self._progress.end()
        for message in self._to_daemon:
            self._refuse(message)
        self._to_daemon.clear()
        self._waiting = 0

    def _refuse(self, message: Message) -> None:
        if message.method and message.id and not self._pending.is_answered(message):
            self._to_client += failure(message.id, NOT_STARTED, self._failure)

    def _read_daemon(self) -> None:
        assert self._daemon  # noqa: S101 - it was readable
        try:
            chunk = self._daemon.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        for line in self._from_daemon.feed(chunk):
            if line and self._pending.is_for_client(read_message(line)):
                self._to_client += line
        self._to_client += b"".join(self._pending.take_outdated())
        if not chunk:
            self._lose()
        elif self._to_client:
            self._write_client(known_writable=False)

    def _lose(self) -> None:
        """The daemon is gone: tell the client what that means, and reach the next one."""
        if self._daemon:
            self._daemon.close()
        self._daemon, self._half_sent = None, 0
        to_client, replayed = self._pending.lost()
        self._to_client += b"".join(to_client)
        left = [each for each in self._to_daemon if not each.is_replayed]
        self._to_daemon = deque([*replayed, *left])
        self._waiting = sum(len(each.line) for each in self._to_daemon)
        # An operator may have stopped the daemon; it is started again when there is work for it.
        is_needed = any(map(_needs_answer, self._to_daemon))
        self._connector = DaemonConnector(
            self._options, self._environ, self._start_s, may_start=is_needed
        )

    def _write_daemon(self) -> None:
        while self._daemon and self._to_daemon:
            message = self._to_daemon[0]
            try:
                self._half_sent += self._daemon.send(message.line[self._half_sent :])
            except BlockingIOError:
                return
            except OSError:
                self._lose()
                return
            if self._half_sent == len(message.line):
                self._to_daemon.popleft()
                self._waiting -= len(message.line)
                self._half_sent = 0
                self._pending.sent(message)

    def _write_client(self, *, known_writable: bool = True) -> None:
        """Write what fits: so much never blocks on a pipe that can be written at all."""
        while self._to_client:
            if not known_writable and not select.select([], [self._stdout], [], 0)[1]:
                return
            known_writable = False
            written = os.write(self._stdout, self._to_client[: select.PIPE_BUF])
            del self._to_client[:written]


def _needs_answer(message: Message) -> bool:
    """Whether the client waits for an answer. A subscription can wait."""
    return bool(message.method and message.id) and message.method != LISTEN


def connect(options: ConnectOptions) -> int:
    """Serve the client at standard input and output until it ends; the status to exit with."""
    if not can_have_daemon():
        sys.stderr.write(f"toolcrib: {NEEDS_UNIX}\n")
        return 2
    with contextlib.suppress(KeyboardInterrupt):
        Shim(options, os.environ).run()
    return 0
