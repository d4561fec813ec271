"""Lines out of pieces, of bounded length."""

from collections.abc import Iterator

LONGEST = 8 * 1024 * 1024


class Lines:
    """Takes bytes as they come and gives whole lines, each with its end."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self._length = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Every line that is whole now; None once for each that is too long, and skipped."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if self._length + len(part) <= self._longest:
                yield b"".join((*self._pieces, part, b"\n"))
            elif self._length <= self._longest:
                yield None
            self._pieces, self._length = [], 0
        fitted = self._length <= self._longest
        self._length += len(rest)
        if self._length <= self._longest:
            self._pieces.append(rest)
        elif fitted:
            self._pieces = []
            yield None
