"""Pipes to and from a child process, all of them bounded.

`bounded_lines` reads lines: one that is too long is given by its beginning, and skipped. From a
`LineReader` a line may be taken before anybody has to wake for it.
`OutputEnds` keeps the beginning and the end of what a program writes: one that fails says why first
and then explains its options, or the other way round. `PipeWriter` waits while the other end does
not read.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple, Protocol, cast

CHUNK_BYTES = 256 * 1024
LONGEST_LINE = 8 * 1024 * 1024
LINE_HEAD_BYTES = 512
"""So much is given of a line that is too long."""
MOST_SKIPPED = 64 * 1024 * 1024
GAP = "\n…\n"
"""Stands for what `OutputEnds` left out."""


class PipeLine(NamedTuple):
    """A line without its end. `whole` is False where only its beginning is here."""

    content: bytes
    whole: bool = True


class ByteReader(Protocol):
    """Where bytes are read from. No bytes mean the end."""

    async def read(self, n: int, /) -> bytes: ...


class LineReader(asyncio.StreamReader):
    """A stream of bytes from which a whole line may be taken the moment that it comes.

    `take_line` gets it, without its end, and says whether it took it. It is asked only while
    whoever reads has had all that came before and waits for more: so no line overtakes another. A
    line that it leaves, and whatever comes in pieces, is read as from any stream.
    """

    def __init__(self, limit: int = CHUNK_BYTES) -> None:
        super().__init__(limit=limit)
        self.take_line: Callable[[bytes], bool] | None = None
        self._unread = 0
        self._is_awaited, self._is_between = False, True

    def feed_data(self, data: bytes) -> None:  # type: ignore[override] - asyncio gives bytes
        """As the protocol of the stream calls it."""
        if self._is_awaited and self._is_between and self._takes(data):
            return
        self._is_awaited, self._is_between = False, data.endswith(b"\n")
        self._unread += len(data)
        super().feed_data(data)

    async def read(self, n: int = -1) -> bytes:
        """As any stream does."""
        self._is_awaited = not self._unread
        try:
            data = await super().read(n)
        finally:
            self._is_awaited = False
        self._unread -= len(data)
        return data

    async def readuntil(self, separator: Any = b"\n") -> bytes:  # noqa: ANN401 - by version
        """As any stream does."""
        data = await super().readuntil(separator)
        self._unread -= len(data)
        return data

    def _takes(self, data: bytes) -> bool:
        is_one_line = data.find(b"\n") == len(data) - 1
        return is_one_line and self.take_line is not None and self.take_line(data[:-1])


async def bounded_lines(
    reader: ByteReader, *, longest: int = LONGEST_LINE, most_skipped: int = MOST_SKIPPED
) -> AsyncIterator[PipeLine]:
    """Every line, in time proportional to its length. A line without an end ends the reading.

    Of a line longer than `longest` the beginning comes, as soon as that is known, and the rest is
    skipped: up to `most_skipped` bytes.
    """
    pieces: list[bytes] = []
    length = 0
    while chunk := await reader.read(CHUNK_BYTES):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if length + len(part) <= longest:
                yield PipeLine(b"".join((*pieces, part)))
            elif length <= longest:
                yield PipeLine(b"".join((*pieces, part))[:LINE_HEAD_BYTES], whole=False)
            pieces, length = [], 0
        fitted = length <= longest
        length += len(rest)
        if length <= longest:
            pieces.append(rest)
        elif fitted:
            yield PipeLine(b"".join((*pieces, rest))[:LINE_HEAD_BYTES], whole=False)
            pieces = []
        elif length > longest + most_skipped:
            return


class OutputEnds(asyncio.Protocol):
    """Keeps the first and the last bytes that come from a pipe. `on_data` gets all of them.

    Once the pipe is closed, `on_data` gets empty bytes.
    """

    def __init__(
        self, head: int, tail: int, on_data: Callable[[bytes], None] = lambda _: None
    ) -> None:
        self._most_head, self._most_tail = head, tail
        self._on_data = on_data
        self._head = b""
        self._chunks: deque[bytes] = deque()
        self._length = 0
        self._left_out = False

    def data_received(self, data: bytes) -> None:
        """One more chunk. Behind the head, old chunks go as soon as newer ones fill the tail."""
        self._on_data(data)
        room = self._most_head - len(self._head)
        self._head += data[:room]
        rest = data[room:]
        if rest:
            self._keep(rest)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - its signature
        """The pipe is closed."""
        self._on_data(b"")

    def text(self) -> str:
        """All of it, or its two ends with `GAP` between them."""
        gap = GAP if self._left_out else ""
        tail = b"".join(self._chunks)[-self._most_tail :]
        if not gap:
            return (self._head + tail).decode("utf-8", "replace")
        return gap.join(each.decode("utf-8", "replace") for each in (self._head, tail))

    def _keep(self, rest: bytes) -> None:
        self._chunks.append(rest[-self._most_tail :])
        self._left_out |= self._length + len(rest) > self._most_tail
        self._length += len(self._chunks[-1])
        while self._length - len(self._chunks[0]) >= self._most_tail:
            self._length -= len(self._chunks.popleft())


class PipeWriter(asyncio.BaseProtocol):
    """Our end of a process's input: a write waits while the process does not read."""

    def __init__(self) -> None:
        self._free = asyncio.Event()
        self._free.set()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - its signature
        self._transport = None
        self._free.set()

    def pause_writing(self) -> None:
        self._free.clear()

    def resume_writing(self) -> None:
        self._free.set()

    async def wait_for_room(self) -> None:
        """Return when the other end has read enough of what was sent, or is gone."""
        await self._free.wait()

    async def send(self, data: bytes) -> None:
        """Hand over, and wait for room. Raises `BrokenPipeError` when the other end is gone."""
        self.write(data)
        if not self._free.is_set():
            await self._free.wait()

    def write(self, data: bytes) -> None:
        """Hand over, and wait for nothing. Raises `BrokenPipeError` when the other end is gone."""
        if self._transport is None:
            raise BrokenPipeError
        self._transport.write(data)

    def close(self) -> None:
        """End it once what was sent is through."""
        if self._transport:
            self._transport.close()

    def abort(self) -> None:
        """End it now, and drop what is not through yet. Does nothing if all of it is."""
        if self._transport and self._transport.get_write_buffer_size():
            self._transport.abort()
