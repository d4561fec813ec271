"""Columns of a pool pack, as they lie in the file and as they are read.

Nothing is a Python object for each row: a row is read where it lies, when somebody asks for it.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from zlib import crc32

from toolcrib.store import Pack, PackDamaged

HASH_BYTES = 8
DIGEST_BYTES = 16


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


class NameColumn(TextColumn):
    """Texts that no two rows share, each found in a table by a hash."""

    def __init__(self, pack: Pack, name: str) -> None:
        super().__init__(pack, name)
        self._table = pack.view(f"{name}_table").cast("I")

    def row_of(self, text: str) -> int | None:
        """The row of a text."""
        content, table, ends = _encoded(text), self._table, self._ends
        at = crc32(content) % len(table)
        while row := table[at]:
            start = ends[row - 2] if row > 1 else 0
            if bytes(self._text[start : ends[row - 1]]) == content:
                return row - 1
            at = (at + 1) % len(table)
        return None


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


class ItemColumn:
    """Bytes a row, of any length, each with a digest; read one by one."""

    def __init__(self, pack: Pack, name: str) -> None:
        self._name = name
        self._items = pack.view(f"lazy:{name}")
        self._ends = pack.view(f"{name}_ends").cast("Q")
        self._digests = pack.view(f"{name}_digests")

    def __getitem__(self, row: int) -> bytes:
        """The bytes of a row. Raises `PackDamaged` if they are not what was written."""
        start = self._ends[row - 1] if row else 0
        content = bytes(self._items[start : self._ends[row]])
        written = self._digests[row * DIGEST_BYTES : (row + 1) * DIGEST_BYTES]
        if item_digest(content) != bytes(written):
            raise PackDamaged(f"row {row} of the {self._name} is damaged")
        return content


class ItemWriter:
    """The sections of an `ItemColumn`. The items are written first, and the others known then."""

    def __init__(self, name: str, items: Iterable[bytes]) -> None:
        self._items = items
        self._ends = array("Q")
        self._digests = bytearray()
        self.sections: dict[str, Iterable[bytes]] = {
            f"lazy:{name}": self._write(),
            f"{name}_ends": written_later(self._ends),
            f"{name}_digests": written_later(self._digests),
        }

    def _write(self) -> Iterator[bytes]:
        end = 0
        for item in self._items:
            end += len(item)
            self._ends.append(end)
            self._digests += item_digest(item)
            yield item


def written_later(column: "array[int] | bytearray") -> Iterator[bytes]:
    """A column as bytes, as it is when it is asked for."""
    yield bytes(column)


def item_digest(content: bytes) -> bytes:
    """By which an item is known not to have changed."""
    return blake2b(content, digest_size=DIGEST_BYTES).digest()


def text_hash(text: str) -> int:
    """A number of a text, the same in every process."""
    return int.from_bytes(blake2b(_encoded(text), digest_size=HASH_BYTES).digest())


def text_sections(name: str, texts: Iterable[str]) -> dict[str, bytes]:
    """The sections of a `TextColumn`."""
    parts, ends, end = list[bytes](), array("I"), 0
    for part in map(_encoded, texts):
        end += len(part)
        ends.append(end)
        parts.append(part)
    return {f"{name}_text": b"".join(parts), f"{name}_ends": ends.tobytes()}


def name_sections(name: str, texts: Sequence[str]) -> dict[str, bytes]:
    """The sections of a `NameColumn`."""
    table = array("I", bytes(4 * (2 * len(texts) + 1)))
    for row, text in enumerate(texts, 1):
        at = crc32(_encoded(text)) % len(table)
        while table[at]:
            at = (at + 1) % len(table)
        table[at] = row
    return {**text_sections(name, texts), f"{name}_table": table.tobytes()}


def hash_sections(name: str, texts: Iterable[str]) -> dict[str, bytes]:
    """The sections of a `HashColumn`."""
    found = sorted((text_hash(text), row) for row, text in enumerate(texts))
    hashes = array("Q", (each for each, _ in found))
    return {
        f"{name}_hashes": hashes.tobytes(),
        f"{name}_rows": array("I", (row for _, row in found)).tobytes(),
    }


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
