"""Texts as a shipped model reads them, many at a time, and what is near to what."""

from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from toolcrib.embed.bundled.embedder import MOST_PIECES, START, TOOL_PIECES, load_tokenizer
from training import export
from training.network import WIDTH, loaded
from training.requests import Asked

WRONGLY = 0.03
"""So many answerable requests may be left without an answer where the others are counted."""


def cut(texts: Sequence[str], model: Path, most: int) -> list[list[int]]:
    """The pieces of texts, by the tokenizer of a model, on every core."""
    with Pool(initializer=_begin, initargs=(model, most)) as pool:
        return pool.map(_numbers, texts, chunksize=500)


_tokenizers: list[Callable[[str], list[int]]] = []


def _begin(model: Path, most: int) -> None:
    _tokenizers.append(partial(load_tokenizer(model).numbers, most=most))


def _numbers(text: str) -> list[int]:
    return [START, *_tokenizers[-1](text)]


class Rows:
    """Texts as rows of numbers on the device, filled up with 0."""

    def __init__(self, texts: Sequence[Sequence[int]], device: str) -> None:
        self.lengths = np.array([*map(len, texts)])
        rows = np.zeros((len(texts), int(self.lengths.max())), np.int32)
        for row, each in zip(rows, texts, strict=True):
            row[: len(each)] = each
        self._rows = torch.from_numpy(rows).to(device)

    def at(self, places: np.ndarray) -> Tensor:
        """Some of them, no wider than the longest."""
        width = int(self.lengths[places].max())
        return self._rows[torch.from_numpy(places).to(self._rows.device), :width].long()

    def alike(self, places: np.ndarray, parts: int) -> list[np.ndarray]:
        """Where among these places texts of about one length are."""
        order = np.argsort(self.lengths[places], kind="stable")
        return [each for each in np.array_split(order, parts) if len(each)]


@torch.no_grad()
def encoded(encoder: nn.Module, rows: Rows, places: np.ndarray, device: str) -> Tensor:
    """The vectors of texts, those of one length together."""
    out = torch.empty(len(places), WIDTH, device=device)
    for some in rows.alike(places, -(-len(places) // 2048)):
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            out[torch.from_numpy(some).to(device)] = encoder(rows.at(places[some])).float()
    return out


class Reader:
    """The network for tools of a shipped model."""

    def __init__(self, model: Path, device: str) -> None:
        self._folder, self._device = model, device
        self._encoder = loaded(export.shipped(model)).to(device).eval()

    def vectors(self, texts: Sequence[str], *, tools: bool = False) -> Tensor:
        rows = Rows(cut(texts, self._folder, TOOL_PIECES if tools else MOST_PIECES), self._device)
        return encoded(self._encoder, rows, np.arange(len(texts)), self._device)


def nearest(asked: Tensor, tools: Tensor, count: int) -> Tensor:
    """The places of the tools that are nearest to each request, best first."""
    most = min(count, len(tools))
    return torch.cat([(some @ tools.T).topk(most).indices for some in asked.split(1024)])


def share_right(asked: Tensor, tools: Tensor, given: Sequence[Asked]) -> str:
    """First hits right and any within five, in per cent; and what is left empty of the rest."""
    scores = torch.cat([(some @ tools.T).topk(5).values[:, 0] for some in asked.split(1024)])
    found = nearest(asked, tools, 5).tolist()
    rows = [(each.tools, row) for each, row in zip(given, found, strict=True) if each.tools]
    one, five = ([bool({*tools} & {*row[:n]}) for tools, row in rows] for n in (1, 5))
    some = torch.tensor([bool(each.tools) for each in given], device=scores.device)
    told = f"first {100 * np.mean(one):.1f}, within five {100 * np.mean(five):.1f}"
    if some.all():
        return told
    bound = scores[some].quantile(WRONGLY)
    return f"{told}, left empty {100 * (scores[~some] < bound).float().mean().item():.0f}"
