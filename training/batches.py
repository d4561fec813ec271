"""What each stage learns from, on the device, cut into batches."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from training.network import WIDTH
from training.tensors import (
    SEED,
    TEXT_MOST,
    TOOL_MOST,
    Numbering,
    Ragged,
    doc_texts,
    lessons,
    lines,
    ragged,
)

FEWEST = 200
"""Lessons that are taken however small a part of them is wanted."""
WAYS = (0.12, 0.55, 0.08, 0.25)
"""How often a tool is read in each of the ways of `doc_texts`."""
WHOLE, NAMELESS, SERVERLESS = 1, 2, 3
"""Three of these ways."""
NEAR = 24
SHORTEST = 4
"""Shorter words of a server's name do not name it."""
WRONG = 3
"""How many near tools of each right one are in a batch."""
TOO_NEAR = 0.88
SHARES_A = {"zh": 0.50, "other": 0.30, "english": 0.20}
SHARES_B = {
    "metatool": 0.12,
    "sealtools_dev": 0.06,
    "toolbench_ports": 0.03,
    "gorilla_torchhub_train": 0.03,
    "gorilla_torchhub_eval": 0.01,
    "gorilla_tensorflow_eval": 0.02,
    "mcp": 0.34,
    "mcp_name": 0.08,
    "mcp_zh": 0.31,
}
SHARES_KNOWN = SHARES_B | {"own_task": 0.2, "function": 0.2, "function_zh": 0.2}
"""Of the queries whose order of tools shall stay as it was."""


class Texts(NamedTuple):
    """Rows of piece numbers on the device, with their lengths beside them on the CPU."""

    rows: Tensor
    lengths: np.ndarray

    @classmethod
    def of(cls, made: Ragged, device: str) -> "Texts":
        return cls(torch.from_numpy(made.rows.astype(np.int32)).to(device), made.lengths)

    def at(self, places: np.ndarray) -> Tensor:
        """Some rows, no wider than the longest of them."""
        width = max(1, int(self.lengths[places].max()))
        return self.rows[torch.from_numpy(places).to(self.rows.device), :width]


def autocast(device: str) -> torch.autocast:
    return torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda")


@torch.no_grad()
def encoded(encoder: nn.Module, texts: Texts, device: str, batch: int = 2048) -> Tensor:
    """One row a text, those of one length together."""
    order = np.argsort(texts.lengths, kind="stable")
    out = torch.empty(len(order), WIDTH, dtype=torch.float16, device=device)
    for start in range(0, len(order), batch):
        some = order[start : start + batch]
        with autocast(device):
            out[torch.from_numpy(some).to(device)] = encoder(texts.at(some)).half()
    return out


class Teaches(Protocol):
    """Whatever says where an English text belongs."""

    def vectors(self, texts: list[str]) -> Tensor: ...


class Lessons:
    """Stage A: batches of texts of about one length, kinds in their shares."""

    def __init__(
        self, folder: Path, teacher: Teaches, device: str, *, words: bool, part: float
    ) -> None:
        pairs = lines(folder / "pairs.tsv")
        tools = lines(folder / "tools.tsv")
        asked = [row[2] for row in lines(folder / "queries.tsv") if row[2].isascii()]
        plain = [doc_texts(tool)[0] for tool in tools] + asked
        rows = lessons(pairs, plain)
        if part < 1:
            rows = random.Random(SEED).sample(
                rows, min(len(rows), max(2000, int(len(rows) * part)))
            )
        cut = Numbering(folder, words=words, most=TEXT_MOST)
        self.other = Texts.of(ragged([row.other for row in rows], cut, TEXT_MOST), device)
        self.english = Texts.of(ragged([row.english for row in rows], cut, TEXT_MOST), device)
        unique = list(dict.fromkeys(row.taught for row in rows))
        place = {text: number for number, text in enumerate(unique)}
        self.taught = torch.tensor([place[row.taught] for row in rows], device=device)
        self.targets = teacher.vectors(unique)
        kinds = np.array([row.kind for row in rows])
        length = self.other.lengths + self.english.lengths
        self.order = {
            kind: (found := np.flatnonzero(kinds == kind))[np.argsort(length[found], kind="stable")]
            for kind in SHARES_A
            if (kinds == kind).any()
        }
        self.device = device

    def batch(self, size: int, chance: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Translations, their English, and where the teacher puts it."""
        where = chance.random()
        parts = [
            _near(order, where, max(1, int(size * SHARES_A[kind])), chance)
            for kind, order in self.order.items()
        ]
        places = np.concatenate(parts)
        targets = self.targets[self.taught[torch.from_numpy(places).to(self.device)]]
        return self.other.at(places), self.english.at(places), targets.float()


def _near(order: np.ndarray, where: float, size: int, chance: np.random.Generator) -> np.ndarray:
    """Some rows out of a stretch of the order, eight times as long as there are rows wanted."""
    span = min(len(order), 8 * size)
    start = int(where * (len(order) - span + 1))
    return order[start + chance.integers(0, span, size)]


class Questions:
    """Stage B: queries, their tools, and tools that are near but wrong."""

    def __init__(
        self, folder: Path, device: str, *, words: bool, shares: Mapping[str, float] = SHARES_B
    ) -> None:
        tools = lines(folder / "tools.tsv")
        rows = lines(folder / "queries.tsv")
        cut = Numbering(folder, words=words, most=TOOL_MOST)
        ways = list(zip(*(doc_texts(tool) for tool in tools), strict=True))
        self.documents = [Texts.of(ragged(list(way), cut, TOOL_MOST), device) for way in ways]
        self.queries = Texts.of(ragged([row[2] for row in rows], cut, TEXT_MOST), device)
        self.tool = np.array([int(row[1]) for row in rows])
        self.server = _numbered([tool[0] for tool in tools])
        self.names_server = np.array(
            [_names(row[2], tools[int(row[1])][0]) if int(row[1]) >= 0 else False for row in rows]
        )
        sources = np.array([row[0] for row in rows])
        self.of = {s: found for s in shares if len(found := np.flatnonzero(sources == s))}
        self.miss, self.none = (np.flatnonzero(sources == each) for each in ("miss", "none"))
        total = sum(shares[source] for source in self.of)
        self.shares = {source: shares[source] / total for source in self.of}
        self.near = np.zeros((len(tools), NEAR), dtype=np.int64)
        self.anchor: Tensor | None = None
        self.device = device

    @torch.no_grad()
    def find_near(self, encoder: nn.Module) -> None:
        """The tools nearest to each by the model as it is, but for those too near to be wrong."""
        found = encoded(encoder, self.documents[0], self.device).float()
        if self.anchor is None:
            self.anchor = found.half()
        for start in range(0, len(found), 1024):
            best = (found[start : start + 1024] @ found.T).topk(NEAR + 60)
            wrong = best.values.masked_fill(best.values > TOO_NEAR, -1).topk(NEAR).indices
            self.near[start : start + 1024] = best.indices.gather(1, wrong).cpu().numpy()

    def batch(self, size: int, chance: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Queries; documents, first the right ones; where a document is the right one too."""
        parts = {
            source: chance.choice(found, max(1, int(size * self.shares[source])))
            for source, found in self.of.items()
        }
        asked = np.concatenate(list(parts.values()))
        nameless = np.concatenate([np.full(len(p), s == "mcp_name") for s, p in parts.items()])
        right = self.tool[asked]
        wrong = [self.near[right, chance.integers(0, NEAR, len(right))] for _ in range(WRONG)]
        both = np.concatenate([right, *wrong])
        way = chance.choice(len(WAYS), len(both), p=WAYS)
        way[: len(right)][nameless] = NAMELESS
        way[: len(right)][self.names_server[asked]] = WHOLE
        alike = self._alike(right, both, self.names_server[asked])
        return self.queries.at(asked), self._documents(both, way), alike

    def known(self, size: int, chance: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Queries of the known kinds; twice as many tools without servers, theirs among them."""
        sources = [source for source in self.of if source in SHARES_KNOWN]
        total = sum(SHARES_KNOWN[source] for source in sources)
        counts = [max(1, int(size * SHARES_KNOWN[source] / total)) for source in sources]
        asked = np.concatenate(
            [chance.choice(self.of[s], n) for s, n in zip(sources, counts, strict=True)]
        )
        near = self.near[self.tool[asked], chance.integers(0, NEAR, len(asked))]
        return self.queries.at(asked), self.documents[SERVERLESS].at(
            np.concatenate([self.tool[asked], near])
        )

    def _alike(self, right: np.ndarray, both: np.ndarray, named: np.ndarray) -> Tensor:
        """Which documents of the batch are as good as the right one: the same, or nearly.

        To a query that names its server, only those of that server are.
        """
        assert self.anchor is not None
        place = torch.from_numpy(both).to(self.device)
        anchors = self.anchor[place]
        same = place[: len(right), None] == place[None, :]
        server = torch.from_numpy(self.server[both]).to(self.device)
        elsewhere = server[: len(right), None] != server[None, :]
        strict = torch.from_numpy(named).to(self.device)[:, None]
        return same | ((anchors[: len(right)] @ anchors.T > TOO_NEAR) & ~(strict & elsewhere))

    def unfit(self, size: int, chance: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Queries that sound like a tool, that tool, and queries that no tool is for."""
        missed, none = (
            chance.choice(found, min(size, len(found))) for found in (self.miss, self.none)
        )
        tools = self.documents[WHOLE].at(self.tool[missed])
        return self.queries.at(missed), tools, self.queries.at(none)

    def _documents(self, places: np.ndarray, way: np.ndarray) -> Tensor:
        width = max(
            int(self.documents[w].lengths[places[way == w]].max(initial=1))
            for w in range(len(WAYS))
        )
        at = torch.from_numpy(places).to(self.device)
        chosen = torch.from_numpy(way).to(self.device)
        stacked = torch.stack([each.rows[at, :width] for each in self.documents])
        return stacked[chosen, torch.arange(len(places), device=self.device)]


def _numbered(names: Sequence[str]) -> np.ndarray:
    """Names as numbers; each that is empty has one of its own."""
    numbers: dict[str, int] = {}
    keys = (name or f"\0{place}" for place, name in enumerate(names))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys])


def _names(query: str, server: str) -> bool:
    """Whether a query names a server: has one of its words."""
    return not {*query.lower().split()}.isdisjoint(w for w in server.split() if len(w) >= SHORTEST)
