"""A pack: a file of named byte sections that is written once and mapped into memory.

    magic · section · section · ... · table (JSON) · seal · length of the table · magic

The table has the kind of the pack, its header, and of every section where it lies and its digest.
It comes last, so that sections are written as they are made and a file that was cut short has
none. The seal is a keyed BLAKE2b of the table: a file of another installation, of another format
or one that was altered is not opened. Sections begin at a multiple of 64 bytes, so that an array
can lie in the file as it is.

How a section is checked when the pack is opened goes by its name:

    rank:*   by a CRC: a scratch is found out. For what only orders results
    lazy:*   not at all: whoever reads an item checks it
    others   by a keyed BLAKE2b: an altered one is found out too

A pack is never written in place. It takes the place of the old one in one step, and whoever has
the old one mapped goes on reading it. It does not know what is in the sections: see
`toolcrib.index` and `toolcrib.pool`.
"""

import hashlib
import hmac
import json
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from toolcrib.model import JsonObject
from toolcrib.system import make_private_folder, private_file_replaced

MAGIC = b"tcpack01"
"""Ends in the number of the format."""
ALIGNMENT = 64
SEAL_BYTES = 32
TAIL_BYTES = SEAL_BYTES + 8 + len(MAGIC)
CHUNK_BYTES = 1 << 20
RANK, LAZY = "rank:", "lazy:"
_FLAGS = os.O_RDONLY | sum(getattr(os, n, 0) for n in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))

Bytes: TypeAlias = bytes | bytearray | memoryview | NDArray[Any]
Number = TypeVar("Number", bound=np.generic)


class PackDamaged(Exception):
    """A file is no pack that we wrote, or no longer; `set_pack_aside` it and make it anew."""


class _Section(NamedTuple):
    offset: int
    length: int
    digest: str


class Pack:
    """A pack, mapped and read only. It stays readable when its file is replaced or removed."""

    def __init__(
        self, header: JsonObject, sections: Mapping[str, _Section], content: mmap.mmap
    ) -> None:
        self.header = header
        self._sections = sections
        self._content = memoryview(content)

    @classmethod
    def open(cls, path: Path, kind: str, key: bytes) -> "Pack":
        """Map a pack of this kind. Raises `FileNotFoundError`, `OSError` and `PackDamaged`."""
        with os.fdopen(os.open(path, _FLAGS), "rb", buffering=0) as file:
            table = _read_table(file, key)
            if table.kind != kind:
                raise PackDamaged(f"{path} is a pack of {table.kind!r}, not of {kind!r}")
            for name, section in table.sections.items():
                _check(file, name, section, key)
            return cls(
                table.header,
                table.sections,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ),
            )

    def view(self, section: str) -> memoryview:
        """The bytes of a section. Raises `KeyError` if there is no such section."""
        offset, length, _ = self._sections[section]
        return self._content[offset : offset + length]

    def array(self, section: str, dtype: type[Number]) -> NDArray[Number]:
        """The numbers of a section, in the file as they are. Raises `KeyError`."""
        offset, length, _ = self._sections[section]
        size = np.dtype(dtype).itemsize
        return np.ndarray((length // size,), dtype, self._content, offset)

    def __contains__(self, section: object) -> bool:
        return section in self._sections


def write_pack(
    path: Path,
    kind: str,
    header: JsonObject,
    sections: Mapping[str, Bytes | Iterable[Bytes]],
    key: bytes,
) -> None:
    """Put a pack in the place of the file in one step; makes the folder. Raises `OSError`.

    The parts of a section are taken one by one, so that a large one need not be in memory.
    """
    make_private_folder(path.parent)
    with private_file_replaced(path) as file:
        file.write(MAGIC)
        table = {
            "kind": kind,
            "header": header,
            "sections": {name: _write(file, name, s, key) for name, s in sections.items()},
        }
        content = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
        file.write(content)
        file.write(_seal(content, key) + len(content).to_bytes(8, "little") + MAGIC)


def set_pack_aside(path: Path) -> None:
    """Rename a damaged file, so that it can be looked at; the last such file is kept."""
    with suppress(OSError):
        path.replace(path.with_name(f"{path.name}.bad"))


class _Table(NamedTuple):
    kind: str
    header: JsonObject
    sections: Mapping[str, _Section]


def _read_table(file: FileIO, key: bytes) -> _Table:
    """The table of a pack, if it is sealed with the key and all it names is in the file."""
    end = file.seek(0, os.SEEK_END) - TAIL_BYTES
    tail = _read(file, end, TAIL_BYTES) if end > 0 else b""
    seal, length, magic = tail[:SEAL_BYTES], tail[SEAL_BYTES:-8], tail[-8:]
    start = end - int.from_bytes(length, "little")
    if magic != MAGIC or start < 0:
        raise PackDamaged(f"{file.name} is no whole pack of this version")
    content = _read(file, start, end - start)
    if not hmac.compare_digest(seal, _seal(content, key)):
        raise PackDamaged(f"{file.name} is not sealed by this installation")
    table = json.loads(content)
    sections = {name: _Section(*section) for name, section in table["sections"].items()}
    if any(section.offset + section.length > start for section in sections.values()):
        raise PackDamaged(f"{file.name} names more than it has")
    return _Table(table["kind"], table["header"], sections)


def _read(file: FileIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


def _seal(content: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(content, key=key, digest_size=SEAL_BYTES, person=b"pack").digest()


class _Crc:
    """A CRC with the verbs of a hash."""

    def __init__(self) -> None:
        self._crc = 0

    def update(self, part: memoryview) -> None:
        self._crc = zlib.crc32(part, self._crc)

    def hexdigest(self) -> str:
        return f"{self._crc:08x}"


def _digest(name: str, key: bytes) -> "hashlib.blake2b | _Crc":
    if name.startswith(RANK):
        return _Crc()
    person = hashlib.blake2b(name.encode(), digest_size=16).digest()
    return hashlib.blake2b(key=key, digest_size=SEAL_BYTES, person=person)


def _write(
    file: BinaryIO, name: str, section: Bytes | Iterable[Bytes], key: bytes
) -> tuple[int, int, str]:
    """Write a section where the next one may begin; where it lies and its digest."""
    file.write(bytes(-file.tell() % ALIGNMENT))
    offset, digest = file.tell(), _digest(name, key)
    for part in _parts(section):
        file.write(part)
        if not name.startswith(LAZY):
            digest.update(part)
    return offset, file.tell() - offset, digest.hexdigest()


def _parts(section: Bytes | Iterable[Bytes]) -> Iterator[memoryview]:
    match section:
        case np.ndarray():
            yield section.data.cast("B") if section.nbytes else memoryview(b"")
        case bytes() | bytearray() | memoryview():
            yield memoryview(section).cast("B")
        case _:
            for part in section:
                yield from _parts(part)


def _check(file: FileIO, name: str, section: _Section, key: bytes) -> None:
    """Compare the digest of a section. Read, not mapped: mapped pages would count as ours."""
    if name.startswith(LAZY):
        return
    digest = _digest(name, key)
    for part in _chunks(file, section):
        digest.update(part)
    if digest.hexdigest() != section.digest:
        raise PackDamaged(f"{file.name} is damaged in {name!r}")


def _chunks(file: FileIO, section: _Section) -> Iterator[memoryview]:
    buffer = memoryview(bytearray(min(section.length, CHUNK_BYTES)))
    file.seek(section.offset)
    left = section.length
    while left:
        read = file.readinto(buffer[: min(left, CHUNK_BYTES)])
        if not read:
            return
        left -= read
        yield buffer[:read]
