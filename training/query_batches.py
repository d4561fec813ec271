"""Batches of texts for a student: drawn and changed on the device, those of one length together.

A text is read as it is, or a stretch of it, or two one behind the other, or with some of its pieces
exchanged. What it means is asked of the model that teaches, so any change will do.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from toolcrib.embed.bundled.embedder import MOST_PIECES
from training.tensors import START

STRETCH, JOINED, EXCHANGED = 0.15, 0.18, 0.12
"""The shares of texts that are changed in each of these ways."""
EXCHANGE = 0.15
"""The share of the pieces of a text that are exchanged, if any are."""
POOL = 32_768
"""So many texts are drawn at a time, to be put together by their lengths."""
MOST_ROWS = 4_096
FIRST_PIECE = 3
"""The pieces before it are padding, the beginning and the end."""
QUERY_SHARES = {
    "own": 0.22,
    "part": 0.13,
    "task": 0.10,
    "zh": 0.14,
    "changed": 0.09,
    "public": 0.06,
    "mcp": 0.04,
    "mcp_zh": 0.04,
    "list": 0.02,
    "list_zh": 0.04,
    "other": 0.06,
    "sentence": 0.04,
    "none": 0.02,
}
TOOLS = "tools"
"""The kind of the texts of tools."""


class Flat(NamedTuple):
    """Texts one behind the other: their numbers, where each begins, and how long it is."""

    numbers: Tensor
    starts: Tensor
    lengths: Tensor

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[np.generic]], name: str, device: str) -> "Flat":
        starts = torch.from_numpy(arrays[f"{name}.starts"].astype(np.int64)).to(device)
        numbers = torch.from_numpy(arrays[name].astype(np.int32)).to(device)
        return cls(numbers, starts[:-1], starts[1:] - starts[:-1])

    def padded(self, places: Tensor, width: int) -> Tensor:
        """Some texts as rows, padded with 0."""
        at = torch.arange(width, device=places.device)
        inside = at < self.lengths[places, None]
        return self.numbers[torch.where(inside, self.starts[places, None] + at, 0)] * inside


class Drawn(NamedTuple):
    """Two stretches of numbers a row, the second perhaps empty, and how many are exchanged."""

    start: Tensor
    length: Tensor
    second_start: Tensor
    second_length: Tensor
    exchanged: Tensor


class QueryBatches:
    """Texts in their shares by kind, without an end."""

    def __init__(
        self,
        arrays: Mapping[str, NDArray[np.generic]],
        shares: Mapping[str, float],
        tokens: int,
        device: str,
    ) -> None:
        texts, tools = Flat.of(arrays, "texts", device), Flat.of(arrays, "tools", device)
        self._numbers = torch.cat([texts.numbers, tools.numbers])
        starts = torch.cat([texts.starts, tools.starts + len(texts.numbers)])
        lengths = torch.cat([texts.lengths, tools.lengths])
        names = [*map(str, arrays["kind_names"]), TOOLS]
        tail = np.full(len(tools.starts), len(names) - 1)
        kinds = np.concatenate([arrays["kinds"].astype(np.int64), tail])
        order = torch.from_numpy(np.argsort(kinds, kind="stable")).to(device)
        self._starts, self._lengths = starts[order] + 1, lengths[order] - 1
        self._counts = torch.from_numpy(np.bincount(kinds, minlength=len(names))).to(device)
        self._firsts = self._counts.cumsum(0) - self._counts
        self._shares = torch.tensor([shares.get(name, 0.0) for name in names], device=device)
        self._begins = torch.from_numpy(arrays["begins"]).to(device)
        self._tokens, self._device = tokens, device

    def __iter__(self) -> Iterator[Tensor]:
        while True:
            drawn = self._drawn(POOL)
            total = drawn.length + drawn.second_length
            order = total.argsort()
            sizes = (total[order] + 1).tolist()
            cuts = [*self._cuts(sizes)]
            for place in torch.randperm(len(cuts)).tolist():
                start, stop = cuts[place]
                rows = Drawn(*(each[order[start:stop]] for each in drawn))
                yield self._rows(rows, sizes[stop - 1])

    def _cuts(self, sizes: list[int]) -> Iterator[tuple[int, int]]:
        """Where each batch begins and ends, so that it has so many tokens."""
        stop = len(sizes)
        while stop > 0:
            start = max(0, stop - min(MOST_ROWS, max(1, self._tokens // sizes[stop - 1])))
            yield start, stop
            stop = start

    def _drawn(self, count: int) -> Drawn:
        start, length = self._texts(count)
        second, second_length = self._texts(count)
        way = torch.rand(count, device=self._device)
        start, length = self._stretch(start, length, way < STRETCH)
        joined = (way >= STRETCH) & (way < STRETCH + JOINED)
        exchanged = way >= 1 - EXCHANGED
        length = length.clamp_max(MOST_PIECES)
        room = torch.minimum(second_length, MOST_PIECES - length)
        return Drawn(start, length, second, room * joined, exchanged)

    def _texts(self, count: int) -> tuple[Tensor, Tensor]:
        kind = torch.multinomial(self._shares, count, replacement=True)
        within = torch.rand(count, device=self._device, dtype=torch.float64) * self._counts[kind]
        place = self._firsts[kind] + within.long()
        return self._starts[place], self._lengths[place]

    def _stretch(self, start: Tensor, length: Tensor, where: Tensor) -> tuple[Tensor, Tensor]:
        """A stretch of some texts, which begins where a word does."""
        size = 1 + (torch.rand_like(start, dtype=torch.float64) * length).long()
        first = start + (torch.rand_like(size, dtype=torch.float64) * (length - size + 1)).long()
        first = torch.where(self._begins[self._numbers[first].long()], first, start)
        return torch.where(where, first, start), torch.where(where, size, length)

    def _rows(self, drawn: Drawn, width: int) -> Tensor:
        at = torch.arange(width - 1, device=self._device)
        length, total = drawn.length[:, None], (drawn.length + drawn.second_length)[:, None]
        first = drawn.start[:, None] + at
        second = drawn.second_start[:, None] + at - length
        inside = at < total
        place = torch.where(inside, torch.where(at < length, first, second), 0)
        numbers = self._exchange(self._numbers[place], drawn.exchanged) * inside
        begin = torch.full((len(numbers), 1), START, dtype=numbers.dtype, device=self._device)
        return torch.cat([begin, numbers], dim=1)

    def _exchange(self, numbers: Tensor, rows: Tensor) -> Tensor:
        others = torch.randint_like(numbers, FIRST_PIECE, len(self._begins))
        chosen = (torch.rand(numbers.shape, device=self._device) < EXCHANGE) & rows[:, None]
        return torch.where(chosen, others, numbers)
