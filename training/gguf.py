"""Weights of a language model out of a GGUF file: read as numbers, nothing of it is run.

Matrices are in blocks of 256 numbers of 4 or 6 bits (Q4_K, Q6_K), or plain (F32).
"""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

MAGIC = b"GGUF"
STRING, ARRAY = 8, 9
SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
F32, Q4_K, Q6_K = 0, 12, 14
BLOCK = 256
BYTES = {Q4_K: 144, Q6_K: 210}
ALIGNED = 32


class Entry(NamedTuple):
    """Where a tensor begins among the numbers, its shape and its kind."""

    shape: Sequence[int]
    kind: int
    offset: int


class Gguf:
    """A file: its facts by name, and its tensors, each read when it is asked for."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            if file.read(4) != MAGIC:
                raise ValueError(f"{path} is no GGUF file")
            _, tensors, facts = struct.unpack("<IQQ", file.read(20))
            self.facts: Mapping[str, Any] = dict(_fact(file) for _ in range(facts))
            self._entries = dict(_entry(file) for _ in range(tensors))
            start = -(-file.tell() // ALIGNED) * ALIGNED
        self._bytes: NDArray[np.uint8] = np.memmap(path, np.uint8, mode="r", offset=start)

    @property
    def names(self) -> Sequence[str]:
        return list(self._entries)

    def tensor(self, name: str, device: str) -> Tensor:
        """A tensor in full."""
        shape, kind, offset = self._entries[name]
        count = int(np.prod(shape))
        size = count * 4 if kind == F32 else count // BLOCK * BYTES[kind]
        raw = torch.from_numpy(np.array(self._bytes[offset : offset + size])).to(device)
        if kind == F32:
            return raw.view(torch.float32).view(*shape)
        blocks = raw.view(-1, BYTES[kind])
        return (_q4(blocks) if kind == Q4_K else _q6(blocks)).reshape(*shape)


def _fact(file: BinaryIO) -> tuple[str, Any]:
    name = _text(file)
    return name, _value(file, _number(file, "I"))


def _value(file: BinaryIO, kind: int) -> Any:  # noqa: ANN401 - a fact is of any type
    if kind == STRING:
        return _text(file)
    if kind == ARRAY:
        inner, count = _number(file, "I"), _number(file, "Q")
        return [_value(file, inner) for _ in range(count)]
    return _number(file, SCALARS[kind])


def _number(file: BinaryIO, form: str) -> Any:  # noqa: ANN401
    return struct.unpack(f"<{form}", file.read(struct.calcsize(form)))[0]


def _text(file: BinaryIO) -> str:
    return file.read(_number(file, "Q")).decode("utf-8")


def _entry(file: BinaryIO) -> tuple[str, Entry]:
    name = _text(file)
    shape = [_number(file, "Q") for _ in range(_number(file, "I"))][::-1]
    return name, Entry(shape, _number(file, "I"), _number(file, "Q"))


def _half(blocks: Tensor, at: int) -> Tensor:
    return blocks[:, at : at + 2].contiguous().view(torch.float16).float()


def _q4(blocks: Tensor) -> Tensor:
    """Eight groups of 32 numbers a block, each with a scale and a minimum of 6 bits."""
    packed, numbers = blocks[:, 4:16], blocks[:, 16:].view(-1, 4, 1, 32)
    low, mid, high = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    scales = torch.cat([low & 63, (high & 15) | (low >> 6 << 4)], dim=1)
    minima = torch.cat([mid & 63, (high >> 4) | (mid >> 6 << 4)], dim=1)
    values = torch.cat([numbers & 15, numbers >> 4], dim=2).view(-1, 8, 32).float()
    steps = (_half(blocks, 0) * scales.float())[..., None]
    return values * steps - (_half(blocks, 2) * minima.float())[..., None]


def _q6(blocks: Tensor) -> Tensor:
    """Sixteen groups of 16 numbers a block: four bits in one place, two in another, and a scale."""
    low = blocks[:, :128].view(-1, 2, 1, 64)
    low = torch.cat([low & 15, low >> 4], dim=2).view(-1, 2, 4, 32)
    high = blocks[:, 128:192].view(-1, 2, 1, 32)
    high = torch.cat([high >> shift & 3 for shift in (0, 2, 4, 6)], dim=2)
    values = (low | high << 4).float() - 32
    scales = blocks[:, 192:208].contiguous().view(torch.int8).float()
    return values.view(-1, 16, 16) * (_half(blocks, 208) * scales)[..., None]
