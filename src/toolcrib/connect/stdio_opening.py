"""Standard input and output of a gateway that is still loading: `toolcrib serve --stdio`.

The gateway loads on a thread. Meanwhile the client's messages are gathered here, and its first
requests get the replies that are kept (`first_replies`). Then the gateway reads all of it.
"""

import contextlib
import os
import select
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from toolcrib.connect.daemon_files import can_have_daemon
from toolcrib.connect.first_replies import FirstReplies
from toolcrib.connect.loading_progress import LoadingProgress
from toolcrib.connect.messages import LONGEST_LINE, LineSplitter

CHUNK = 256 * 1024
MOST_WAITING = 2 * LONGEST_LINE

T = TypeVar("T")


class StdioDescriptors(NamedTuple):
    """Copies of standard input and output that nobody else knows."""

    incoming: int
    outgoing: int


class StdioOpening:
    """The wire, until the gateway takes it over. `unread` is all that came by then."""

    def __init__(self, descriptors: StdioDescriptors, replies: FirstReplies | None = None) -> None:
        self.descriptors = descriptors
        self.replies = replies
        self.unread: bytes = b""
        self._lines = LineSplitter()
        self._progress = LoadingProgress()

    def wait_for(self, load: Callable[[], T]) -> T:
        """What `load` returns or raises; it runs on a thread while we answer what we can."""
        if self.replies is None or not can_have_daemon():
            return load()
        results: list[T] = []
        errors: list[BaseException] = []
        ready, loaded = os.pipe()
        thread = threading.Thread(
            target=_load, args=(load, results, errors, loaded), daemon=True, name="toolcrib-load"
        )
        thread.start()
        try:
            self._answer_until(ready)
            thread.join()
        finally:
            os.close(ready)
        for error in errors:
            raise error
        return results[0]

    def _answer_until(self, ready: int) -> None:
        incoming, has_ended = self.descriptors.incoming, False
        while True:
            reads = not has_ended and len(self.unread) < MOST_WAITING
            waits_for = [ready, *([incoming] if reads else [])]
            readable, _, _ = select.select(waits_for, [], [], self._progress.wait_s)
            if ready in readable:
                return
            self._send(self._progress.take_due())
            if not readable:
                continue
            chunk = os.read(incoming, CHUNK)
            has_ended = not chunk
            self.unread += chunk
            for line in self._lines.feed(chunk):
                self._answer(line or b"")

    def _answer(self, line: bytes) -> None:
        content = self.replies.reply(line) if self.replies else b""
        self._send(content)
        if not content:
            self._progress.add(line)

    def _send(self, content: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):  # nobody reads any more: the input ends too
            while content:
                content = content[os.write(self.descriptors.outgoing, content) :]


def _load(
    load: Callable[[], T], results: list[T], errors: list[BaseException], loaded: int
) -> None:
    try:
        results.append(load())
    except BaseException as error:  # noqa: BLE001 - raised where it is waited for
        errors.append(error)
    finally:
        os.close(loaded)


@contextmanager
def claim_stdio() -> Generator[StdioDescriptors]:
    """Take standard input and output for ourselves, and give them back."""
    sys.stdout.flush()
    descriptors = StdioDescriptors(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield descriptors
    finally:
        sys.stdout.flush()
        for ours, theirs in zip(descriptors, (0, 1), strict=True):
            if hasattr(os, "set_blocking"):
                os.set_blocking(ours, True)  # whoever gets them back expects that
            os.dup2(ours, theirs)
            os.close(ours)
