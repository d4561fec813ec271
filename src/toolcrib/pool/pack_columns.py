"""Columns of a pool pack: texts one after the other, and hashes by which a row is found."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import TypeAlias

from toolcrib.store import Pack

HASH_BYTES = 8
Parts: TypeAlias = Iterator[bytes | memoryview]


class TextColumn(Sequence[str]):
    """A text a row; none of them is a Python object until it is asked for."""

    def __init__(self, pack: Pack, name: str) -> None:
        self._text = pack.view(f"{name}_text")
        self._ends = pack.view(f"{name}_ends").cast("I")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, row: int) -> str:  # type: ignore[override] - slices are `between`
        start = self._ends[row - 1] if row else 0
        return str(self._text[start : self._ends[row]], "utf-8", "surrogatepass")

    def between(self, start: int, stop: int) -> Iterator[str]:
        """The texts of some rows."""
        return (self[row] for row in range(start, stop))


class HashColumn:
    """The rows by a hash of their texts, which several may have: the text decides."""

    def __init__(self, pack: Pack, name: str) -> None:
        self._hashes = pack.view(f"{name}_hashes").cast("Q")
        self._rows = pack.view(f"{name}_rows").cast("I")

    def rows(self, text: str) -> Iterator[int]:
        """The rows whose text has the same hash."""
        hashes, wanted = self._hashes, text_hash(text)
        at = bisect_left(hashes, wanted)
        while at < len(hashes) and hashes[at] == wanted:
            yield self._rows[at]
            at += 1


def text_hash(text: str) -> int:
    """A number of a text, the same in every process."""
    content = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(content, digest_size=HASH_BYTES).digest())


def text_sections(name: str, texts: Sequence[str]) -> dict[str, bytes]:
    """The sections of a `TextColumn`."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends, end = array("I"), 0
    for part in parts:
        end += len(part)
        ends.append(end)
    return {f"{name}_text": b"".join(parts), f"{name}_ends": ends.tobytes()}


def hash_sections(name: str, texts: Iterable[str]) -> dict[str, bytes]:
    """The sections of a `HashColumn`."""
    found = sorted((text_hash(text), row) for row, text in enumerate(texts))
    hashes = array("Q", (each for each, _ in found))
    return {
        f"{name}_hashes": hashes.tobytes(),
        f"{name}_rows": array("I", (row for _, row in found)).tobytes(),
    }
