"""The log of one server: its starts, its ends, its stderr; and which lines of that tell the error.

Each server has a file in the state folder that only we can read. A full file becomes the old one,
and the old one before it is removed. Several processes may write: each line is appended whole.
Secrets are removed before a line is written. A log that cannot be written does not fail the server.
"""

import hashlib
import logging
import os
import re
import signal
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from toolcrib.system import FileLock, make_private_folder
from toolcrib.text import Redactor, printable

FOLDER = "logs"
MOST_BYTES = 1024 * 1024
LONGEST_EVENT = 2_000
LONGEST_LOG_LINE = 4_000
LONGEST_UNREAD = 64 * 1024
"""Of a line without an end: more than `LONGEST_LOG_LINE`, so that no half of a secret is shown."""
AT_ONCE = 256 * 1024
A_SECOND = 8 * 1024
"""Bytes of stderr that are kept: so many at once, and then so many a second."""
_ENDED_BY_US = 128
_NAMED = re.compile(
    r"(?:[\w.]*(?:Error|Exception)\b(?: \[\w+\])?|(?:npm )?(?:error|err!|fatal|panic)\b).*",
    re.IGNORECASE,
)
_LEVEL = re.compile(
    r"[EF][0-9]{4} |.*(?:\b(?:ERROR|FATAL|CRITICAL|PANIC)\b|\b(?:error|fatal)\b[:=\]])"
)
_BAD_NEWS = re.compile(
    r"\b(?:failed|cannot|can't|could not|denied|refused|missing|required|invalid"
    r"|not (?:found|set|installed|available)|no such|unable|unsupported"
    r"|(?:please|must) (?:be )?(?:set|provided?))\b",
    re.IGNORECASE,
)
_USAGE = re.compile(r"(?:usage|options|flags|commands)\b:?", re.IGNORECASE)
_STACK = re.compile(r"\s+at |\s*File \"|Traceback |Node\.js v|\s*\^+\s*$|-+$")
_NOISE = re.compile(r"npm (?:notice|warn)\b|\(node:[0-9]+\)|\(Use `node --trace", re.IGNORECASE)
"""What a package runner or an interpreter adds to the stderr of a server."""
_LIBRARY_WARNING = re.compile(
    r"^\S[^\n]{0,500}?:[0-9]{1,7}: [\w.]{0,80}Warning: [^\n]*\n?(?:  [^\n]*\n?)?"
    r"|^\(node:[0-9]+\) [^\n]*\n?|^\(Use `node --trace[^\n]*\n?",
    re.MULTILINE,
)
"""Of Python with the line of its source below it, or of Node."""
_LOGGED_WARNING = re.compile(r".*\bWARN(?:ING)?\b")
_OPTION = re.compile(r"-{1,2}\w")
_FRAME = re.compile(r"^[\s|+]*")

_log = logging.getLogger(__name__)


def log_path(state_folder: Path, server: str) -> Path:
    """The log file of a server. No server name can lead to another folder."""
    readable_part = re.sub(r"[^A-Za-z0-9_-]", "_", server)[:64]
    identity = hashlib.sha256(server.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return state_folder / FOLDER / f"{readable_part}-{identity}.log"


def old_log(path: Path) -> Path:
    """Where a log file goes once it is full."""
    return path.with_name(f"{path.name}.1")


def last_log_lines(path: Path, most: int) -> list[str]:
    """The last so many lines, the newest last, across the file that it becomes when full.

    Empty where there is no log.
    """
    last: deque[str] = deque(maxlen=most)
    for each in (old_log(path), path):
        with suppress(FileNotFoundError), each.open("rb") as file:
            last += (line.decode("utf-8", "replace").rstrip("\n") for line in file)
    return list(last)


class ServerLog:
    """Of one server. Without a path there is no file, only the log of our own process."""

    def __init__(self, server: str, path: Path | None = None) -> None:
        self._server = server
        self._path = path
        self._state_folder: Path | None = None

    @classmethod
    def within(cls, state_folder: Path, server: str) -> Self:
        """In the file that is the server's own; which one that is, is worked out at first need."""
        log = cls(server)
        log._state_folder = state_folder
        return log

    def note(self, event: str, *, aloud: bool = True) -> None:
        """Write what happened to the server; `aloud`: into the log of our own process too."""
        line = _log_line(event, LONGEST_EVENT)
        if aloud:
            _log.info("MCP server %r: %s", self._server, line)
        self.write(f"{_now()} toolcrib: {line}\n")

    def ended(self, why: str, status: int | None, up_s: float) -> None:
        """The server ended, by itself or because we stopped it, after so many seconds."""
        how = "" if status is None or status == _ENDED_BY_US else f" ({exit_words(status)})"
        self.note(f"{why}{how}; it was up for {up_s:.1f} s")

    def stderr(self, redactor: Redactor) -> Callable[[bytes], None]:
        """Takes the stderr of a process, chunk by chunk; an empty chunk is its end."""
        return _Stderr(self.write, redactor.by_line())

    def write(self, lines: str) -> None:
        """Append whole lines."""
        if self._path is None and self._state_folder:
            self._path = log_path(self._state_folder, self._server)
        path = self._path
        if path is None:
            return
        with suppress(OSError):
            make_private_folder(path.parent)
            if _append(path, lines) > MOST_BYTES:
                _rotate(path)


def exit_words(status: int) -> str:
    """An exit status in words. Above 128 it is that of a signal, as the launcher gives it."""
    with suppress(ValueError):
        if status > _ENDED_BY_US:
            return f"killed by {signal.Signals(status - _ENDED_BY_US).name}"
    return f"exit status {status}"


def forget_log(path: Path) -> None:
    """Remove the log of a server that is not configured any more."""
    for each in (path, old_log(path)):
        with suppress(OSError):
            each.unlink()


class _Stderr:
    """Writes the stderr of one process into a log: line by line, redacted, so much a second."""

    def __init__(self, write: Callable[[str], None], redactor: Redactor) -> None:
        self._write = write
        self._redactor = redactor
        self._unread = b""
        self._is_cut = False
        self._left = float(AT_ONCE)
        self._at = time.monotonic()
        self._lost = 0

    def __call__(self, data: bytes) -> None:
        if not data:
            self._write_lines([self._unread])
            return
        if not self._affords(len(data)):
            self._lost += len(data)
            self._unread, self._is_cut = b"", True
            return
        *lines, self._unread = (self._unread + data).split(b"\n")
        if lines and self._is_cut:
            lines, self._is_cut = lines[1:], False
        if self._is_cut:
            self._unread = b""
        elif len(self._unread) > LONGEST_UNREAD:
            lines.append(self._unread)
            self._unread, self._is_cut = b"", True
        self._write_lines(lines)

    def _affords(self, size: int) -> bool:
        now = time.monotonic()
        self._left = min(AT_ONCE, self._left + (now - self._at) * A_SECOND)
        self._at = now
        if size > self._left:
            return False
        self._left -= size
        return True

    def _write_lines(self, lines: list[bytes]) -> None:
        texts = [_log_line(self._read(line), LONGEST_LOG_LINE) for line in lines]
        if self._lost:
            texts.insert(0, f"… {self._lost} bytes are left out: too much at once")
            self._lost = 0
        written = "".join(f"{_now()} stderr: {text}\n" for text in texts if text)
        if written:
            self._write(written)

    def _read(self, line: bytes) -> str:
        return self._redactor.text(line.decode("utf-8", "replace"))


def _log_line(text: str, most: int) -> str:
    line = printable(text).replace("\n", " ⏎ ").strip()
    return line if len(line) <= most else line[: most - 1] + "…"


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _append(path: Path, lines: str) -> int:
    """Append; the size of the file after that."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        os.write(descriptor, lines.encode("utf-8", "replace"))
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _rotate(path: Path) -> None:
    """Put a full file in the place of the old one, unless another process has done so."""
    lock = FileLock(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            path.replace(old_log(path))
    finally:
        lock.release()


def without_warnings(text: str) -> str:
    """The text without what libraries warn of: it is not why a program ended.

    Nor is what its log calls a warning, where another line tells the error.
    """
    text = _LIBRARY_WARNING.sub("", text)
    lines = text.splitlines(keepends=True)
    rest = "".join(line for line in lines if not _LOGGED_WARNING.match(line))
    return rest if error_lines(rest) != rest else text


def error_lines(text: str) -> str:
    """The lines that tell why a program ended; all of the text if no line seems to.

    Programs explain their options after the error, or print the stack before it. So this is the
    line that calls itself an error, and what belongs to it: of a Python traceback the last, which
    wraps those before it, else the first. What a package runner adds is left out.
    """
    own = (line for line in text.splitlines() if line.strip() and not _NOISE.match(line))
    lines = [line for line in own if not _STACK.match(line)]
    bare = [_FRAME.sub("", line) for line in lines]
    for tells in (_NAMED.match, _LEVEL.match, _BAD_NEWS.search):
        places = [at for at, line in enumerate(bare) if tells(line) and not _OPTION.match(line)]
        if places:
            at = places[-1] if "Traceback " in text else places[0]
            return "\n".join(_belonging(bare[at:]))
    return text


def _belonging(lines: list[str]) -> list[str]:
    """The first line and those behind it, up to where the program explains itself."""
    ends = (at for at, line in enumerate(lines) if at and _USAGE.match(line))
    return lines[: next(ends, len(lines))]
