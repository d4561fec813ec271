"""A command at a real terminal: what it shows there, and answers to what it asks."""

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.waiting import HANG_S

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
CTRL_C = "\x03"
AGAIN_S = 20.0
"""After this long without a word, Ctrl-C is pressed again, as one would: a signal that comes after
a prompt is written and before it is read from interrupts no read."""
PART = re.compile(r"\x1b\[(?P<number>[0-9;?]*)(?P<deed>[A-Za-z])|(?P<move>[\r\n])|[^\x1b\r\n]+")


class Shown(NamedTuple):
    """How a command ended, and all that it wrote; `text` is what stays on the screen of it."""

    code: int
    raw: str

    @property
    def text(self) -> str:
        return _screen(self.raw)


def at_terminal(
    *arguments: str,
    columns: int = 80,
    answers: Sequence[tuple[str, str]] = (),
    env: Mapping[str, str] | None = None,
    program: Sequence[str] = (sys.executable, "-m", "toolcrib.cli"),
) -> Shown:
    """Run `toolcrib` with a terminal of its own; each answer is typed when its question is there.

    An answer is a question's words and what is typed after them. Fails if one is never asked.
    """
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        [*program, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", **(env or {})},
        start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509 - two system calls, and no lock
    )
    os.close(theirs)
    written, typed, left = b"", "", list(answers)
    with contextlib.suppress(OSError):  # Linux says so when the other side is closed
        while part := _read(ours, again=typed if typed == CTRL_C else ""):
            written += part
            if left and left[0][0] in _since(written, answers[: -len(left)]):
                typed = left.pop(0)[1]
                os.write(ours, typed.encode())
    os.close(ours)  # what still waits for an answer ends then
    shown = Shown(process.wait(HANG_S), written.decode(errors="replace"))
    assert not left, f"{left[0][0]!r} was never asked: {shown.text}"
    return shown


def _take_terminal() -> None:
    """Make standard input the terminal of this session, so that Ctrl-C is a signal.

    A job in the background is started with that signal ignored, and so would be what it starts.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _read(terminal: int, again: str) -> bytes:
    """What is written next; nothing, if nothing comes for a long time. Types `again` meanwhile."""
    for _ in range(int(HANG_S / AGAIN_S)):
        ready, _, _ = select.select([terminal], [], [], AGAIN_S)
        if ready:
            return os.read(terminal, 65536)
        os.write(terminal, again.encode())
    return b""


def _since(written: bytes, answered: Sequence[tuple[str, str]]) -> str:
    """What was written after the questions that are answered."""
    text = ANSI.sub("", written.decode(errors="replace"))
    for question, _ in answered:
        text = text[text.index(question) + len(question) :]
    return text


def _screen(raw: str) -> str:
    """What a terminal shows after all this: what was written over or erased is gone."""
    lines, row, column = [""], 0, 0
    for part in PART.finditer(raw):
        if part["deed"] == "A":
            row = max(0, row - int(part["number"] or 1))
        elif part["deed"] == "K":
            lines[row] = ""
        elif part["move"] == "\r":
            column = 0
        elif part["move"]:
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif not part["deed"]:
            kept = lines[row][:column].ljust(column)
            lines[row] = kept + part[0] + lines[row][column + len(part[0]) :]
            column += len(part[0])
    return "\n".join(lines)
