"""Lines from a pipe, of bounded length: a longer one is given by its beginning, and skipped."""

from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol

LONGEST_LINE = 8 * 1024 * 1024
MOST_SKIPPED = 64 * 1024 * 1024
HEAD = 512
CHUNK = 256 * 1024


class Line(NamedTuple):
    """A line without its end. `whole` is False where only its beginning is here."""

    content: bytes
    whole: bool = True


class Reader(Protocol):
    """What bytes are read from; none means the end."""

    async def read(self, n: int, /) -> bytes: ...


async def bounded_lines(
    reader: Reader, *, longest: int = LONGEST_LINE, most_skipped: int = MOST_SKIPPED
) -> AsyncIterator[Line]:
    """Every line, in time proportional to its length; ends early on one that does not end.

    The beginning of a line that is too long comes as soon as that is known.
    """
    pieces: list[bytes] = []
    length = 0
    while chunk := await reader.read(CHUNK):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if length + len(part) <= longest:
                yield Line(b"".join((*pieces, part)))
            elif length <= longest:
                yield Line(b"".join((*pieces, part))[:HEAD], whole=False)
            pieces, length = [], 0
        fitted = length <= longest
        length += len(rest)
        if length <= longest:
            pieces.append(rest)
        elif fitted:
            yield Line(b"".join((*pieces, rest))[:HEAD], whole=False)
            pieces = []
        elif length > longest + most_skipped:
            return
