"""Teach the two small networks that ship to put texts where the teacher puts them.

    python -m training.distil TEXTS TAUGHT START OUT --minutes 10

TEXTS and TAUGHT are what `training.teach` read and said, START is the folder of the shipped model
that both begin as. The network for tools reads tools, and some requests; that for queries reads
requests. They share the vectors of pieces. Each text is drawn to its place, the order of tools to
the teacher's at 384, 256 and 128 numbers, and the second look to the teacher's order of the first
fifty. Misspelt requests belong where the same ones do that are spelt well.

OUT gets `tool.npz` and `query.npz`.
"""

import argparse
import copy
import itertools
import math
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from toolcrib.embed.bundled.embedder import MOST_TOKENS, TOOL_PIECES
from toolcrib.embed.bundled.tokenizer import says_something
from training import export, requests, texts
from training.network import WIDTH, Encoder, Reading, loaded
from training.reading import Rows, cut, encoded, nearest, share_right
from training.requests import Asked
from training.texts import UNSAID, document, says_right

ASKED_PIECES = 64
BATCH, AGAIN, LOOKED = 1024, 160, 192
"""Requests of a batch; those that the network for tools reads, too; those looked at twice."""
NEAR, FIRST, COMMON, RANDOM = 8, 50, 24, 448
"""Near tools of a request that is looked at twice, of so many first ones; tools in common."""
PARTS = 3
SERVERLESS, TYPOS, MISSPELT = 0.3, 0.5, 0.3
"""Shares: of tools read without a server; of requests with a misspelt copy, and its use."""
KEPT_BACK = 2_000
MOST_RIGHT = 4
RATE, WORDY, HEADY, RISE = 6e-4, 1.5, 3.0, 200
TAU, SURE = 0.05, 0.15
"""How sharply tools are told apart; and how much of the order a known right tool is."""
SIZES = {WIDTH: 1.0, 256: 0.3, 128: 0.3}
BLOCKS = (0, 128, 256, WIDTH)
SHARES = {"own": 0.36, "changed": 0.06, "pool": 0.13, "made": 0.27, "part": 0.12, "words": 0.06}
"""How many requests of a batch are of each group of kinds."""
GROUPS = {
    **dict.fromkeys((*requests.KINDS, "none"), "own"),
    **dict.fromkeys(("product", "wrong", "task"), "changed"),
    "part": "part",
    **dict.fromkeys(("name", "sentence"), "words"),
}


def group(kind: str) -> str:
    return GROUPS.get(kind) or ("made" if kind.startswith("made_") else "pool")


class Taught(NamedTuple):
    """Where the teacher puts requests, and tools with and without a server; and its bound."""

    asked: Tensor
    tools: Tensor
    bound: Sequence[float]

    @classmethod
    def load(cls, folder: Path, device: str) -> "Taught":
        with np.load(folder / "texts.npz") as file:
            asked, tools = (
                torch.from_numpy(file[n]).float().to(device) for n in ("asked", "tools")
            )
            return cls(asked, tools, file["bound"].tolist())

    def turned(self, asked: Tensor, tools: Tensor) -> "Taught":
        """The same order, turned to where a model puts the first of them.

        The first 128 numbers are turned among themselves, then the next: the principal ones stay
        first.
        """
        here, there = torch.cat([asked, tools]), self._first(len(asked), len(tools))
        parts = []
        for start, stop in itertools.pairwise(BLOCKS):
            u, _, v = torch.linalg.svd(there[:, start:stop].T @ here[:, start:stop])
            parts.append(u @ v)
        turn = torch.block_diag(*parts)
        return self._replace(asked=self.asked @ turn, tools=self.tools @ turn)

    def _first(self, asked: int, tools: int) -> Tensor:
        return torch.cat([self.asked[:asked], self.tools[:tools]])


class Batch(NamedTuple):
    """Requests and tools by their places; of the tools first the near ones of each looked at."""

    asked: np.ndarray
    tools: np.ndarray
    right: Tensor


class Students:
    """Both networks while they learn."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.chance = args, np.random.default_rng(args.seed)
        torch.manual_seed(args.seed)
        torch.set_float32_matmul_precision("high")
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.given = texts.load(args.texts)
        self.count = len(self.given.tools)
        self._load_networks(args.start)
        self._cut_texts(args.start)
        self._draw_from()
        self._turn(Taught.load(args.taught, self.device))
        self.others = self._others(args.measure) if args.measure else None
        self.say(
            f"ready: {len(self.taught.asked)} texts, {self.count} tools, {len(self.typos)} typos"
        )

    def say(self, text: str) -> None:
        print(f"[distil {time.strftime('%H:%M:%S')}] {text}", flush=True)

    def _load_networks(self, start: Path) -> None:
        self.tool = loaded(export.shipped(start)).to(self.device)
        self.query = loaded(export.shipped_query(start)).to(self.device)
        self.query.words = self.tool.words
        pieces = (start / "pieces.txt").read_text("utf-8").split("\n")[:-1]
        self.says = torch.tensor([*map(says_something, pieces)], device=self.device)

    def _cut_texts(self, start: Path) -> None:
        """The pieces of all requests, behind them the misspelt ones, and of all tools."""
        chance, plain = random.Random(self.args.seed), [each.text for each in self.given.asked]
        wrong = {
            place: requests.misspelt(each.text, chance)
            for place, each in enumerate(self.given.asked)
            if each.text.isascii() and each.kind not in UNSAID and chance.random() < TYPOS
        }
        self.typos = {place: len(plain) + n for n, place in enumerate(wrong)}
        self.asked = Rows(cut([*plain, *wrong.values()], start, ASKED_PIECES - 1), self.device)
        both = [document(t, server=own) for own in (True, False) for t in self.given.tools]
        self.tools = Rows(cut(both, start, TOOL_PIECES), self.device)

    def _draw_from(self) -> None:
        """The places of each group; some texts are kept back, and measure."""
        known = self.asked.lengths[: len(self.given.asked)] > 1
        order = self.chance.permutation(np.flatnonzero(known))
        back = min(KEPT_BACK, len(order) // 10)
        self.kept_back, learned = order[:back], np.sort(order[back:])
        groups = np.array([group(each.kind) for each in self.given.asked])[learned]
        self.of = {name: some for name in SHARES if len(some := learned[groups == name])}
        self.right = np.full((len(self.given.asked), MOST_RIGHT), -1)
        for row, each in zip(self.right, self.given.asked, strict=True):
            if says_right(each.kind):
                row[: len(each.tools)] = each.tools[:MOST_RIGHT]

    def _turn(self, taught: Taught) -> None:
        some = (np.arange(min(8000, len(self.given.asked))), np.arange(min(8000, self.count)))
        with torch.no_grad():
            asked = encoded(self.tool, self.asked, some[0], self.device)
            tools = encoded(self.tool, self.tools, some[1], self.device)
        self.taught = taught.turned(asked, tools)
        self.first = (
            nearest(self.taught.asked, self.taught.tools[: self.count], FIRST).cpu().numpy()
        )

    def batch(self) -> Batch:
        """Requests; the near tools of some, tools in common, right ones, and any."""
        chance, total = self.chance, sum(SHARES[name] for name in self.of)
        size = self.args.batch
        parts = [
            chance.choice(some, max(1, int(size * SHARES[name] / total)))
            for name, some in self.of.items()
        ]
        asked = chance.permutation(np.concatenate(parts))
        looked, most = asked[: self.args.looked], self.first.shape[1]
        near = self.first[looked[:, None], chance.integers(0, most, (len(looked), NEAR))]
        near[:, 0] = self._own(looked)
        common = chance.integers(0, self.count, COMMON)
        others = self._own(asked[self.args.looked :: 2])
        tools = np.concatenate(
            [near.ravel(), common, others, chance.integers(0, self.count, RANDOM)]
        )
        both = (torch.from_numpy(each).to(self.device) for each in (self.right[asked], tools))
        right = torch.eq(next(both)[:, :, None], next(both)).any(1)
        without = chance.random(len(tools)) < SERVERLESS
        return Batch(asked, tools + without * self.count, right)

    def _own(self, asked: np.ndarray) -> np.ndarray:
        """A right tool of each request, or the one that is nearest."""
        right = self.right[asked]
        known = (right >= 0).sum(1)
        some = self.chance.integers(0, np.maximum(1, known))
        own = right[np.arange(len(asked)), some]
        return np.where(known > 0, own, self.first[asked, 0])

    def _spelt(self, asked: np.ndarray) -> np.ndarray:
        """Some of the requests misspelt, where they have such a copy."""
        wrong = self.chance.random(len(asked)) < MISSPELT
        return np.array(
            [self.typos.get(n, n) if w else n for n, w in zip(asked, wrong, strict=True)]
        )

    def _vectors(self, encoder: Encoder, rows: Rows, places: np.ndarray) -> Tensor:
        parts = rows.alike(places, PARTS)
        back = torch.from_numpy(np.argsort(np.concatenate(parts))).to(self.device)
        return torch.cat([encoder(rows.at(places[some])) for some in parts])[back]

    def _read(self, encoder: Encoder, numbers: Tensor) -> Reading:
        return content(numbers, encoder.read(numbers), self.says)

    def losses(self) -> dict[str, Tensor]:
        """What both shall make small."""
        asked, tools, right = self.batch()
        looked, spelt = min(self.args.looked, len(asked)), self._spelt(asked)
        first = looked * NEAR + COMMON
        query = self._read(self.query, self.asked.at(spelt[:looked]))
        queries = torch.cat([query.vectors, self._vectors(self.query, self.asked, spelt[looked:])])
        near = self._read(self.tool, self.tools.at(tools[:first]))
        documents = torch.cat([near.vectors, self._vectors(self.tool, self.tools, tools[first:])])
        again = min(self.args.again, looked)
        close = self._read(self.tool, self.asked.at(spelt[:again]))
        at = torch.from_numpy(asked).to(self.device)
        aim = self.taught.asked[at], self.taught.tools[torch.from_numpy(tools).to(self.device)]
        wanted, few = aim[0] @ aim[1].T, slice(0, again)
        return {
            "place": apart(queries, aim[0]) + apart(documents, aim[1]),
            "order": order(queries, documents, wanted, right),
            "cosines": ((queries @ documents.T - wanted) ** 2).mean(),
            "close": apart(close.vectors, aim[0][few])
            + 0.25 * order(close.vectors, documents, wanted[few], right[few]),
            "look": self._look(query, near, wanted[:looked], right[:looked])
            + 0.5 * self._look(close, near, wanted[few], right[few]),
        }

    def _look(self, query: Reading, near: Reading, wanted: Tensor, right: Tensor) -> Tensor:
        """The second look at the near tools of each request and at some in common."""
        count = len(query.vectors)
        total = (len(near.vectors) - COMMON) // NEAR
        own = torch.arange(count * NEAR, device=self.device).view(count, NEAR)
        some = torch.arange(COMMON, device=self.device).expand(count, COMMON) + total * NEAR
        places = torch.cat([own, some], dim=1)
        looks = late_each(query, near.at(places))
        aim, true = wanted.gather(1, places), right.gather(1, places)
        fits = torch.sigmoid((aim - self.taught.bound[0]) * self.taught.bound[1])
        said = looks * self.bound[0] + self.bound[1]
        known = functional.binary_cross_entropy_with_logits(said, fits)
        return told_apart(looks, aim, true) + known

    def learn(self) -> None:
        """Until the time is up; what is kept are the mean weights of the last steps."""
        self.bound = nn.Parameter(torch.tensor([12.0, -6.0], device=self.device))
        learner = optimizer(self.tool, self.query, self.bound)
        self.mean_tool, self.mean_query = copy.deepcopy(self.tool), copy.deepcopy(self.query)
        weights = {"place": 4.0, "order": 1.0, "cosines": 20.0, "close": 1.0, "look": 0.5}
        self.measure("before")
        began, step, told = time.time(), 0, time.time()
        while (done := (time.time() - began) / (60 * self.args.minutes)) < 1:
            rise = min(1.0, (step + 1) / RISE)
            for part in learner.param_groups:
                fall = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done))
                part["lr"] = self.args.rate * rise * fall * part["factor"]
            with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
                parts = self.losses()
            loss = sum(weights[name] * part for name, part in parts.items())
            learner.zero_grad(set_to_none=True)
            loss.backward()
            for each in (self.tool, self.query):
                nn.utils.clip_grad_norm_(each.parameters(), 1.0)
            learner.step()
            step += 1
            self._add(min(0.998, step / (step + 10)))
            if time.time() - told > self.args.told:
                told, pace = time.time(), 1000 * (time.time() - began) / step
                said = " ".join(f"{name} {part.item():.4f}" for name, part in parts.items())
                self.say(f"step {step} ({done:.0%}) {said} {pace:.0f} ms a step")
                self.measure(f"at {step}")
                self.save()
        self.measure(f"after {step} steps")
        self.save()

    @torch.no_grad()
    def _add(self, share: float) -> None:
        for slow, fast in ((self.mean_tool, self.tool), (self.mean_query, self.query)):
            parts = [[p.data for p in each.parameters()] for each in (slow, fast)]
            torch._foreach_lerp_(parts[0], parts[1], 1 - share)

    @torch.no_grad()
    def measure(self, name: str) -> None:
        """How near requests that were kept back are to their places; and texts of `--measure`."""
        aim = self.taught.asked[torch.from_numpy(self.kept_back).to(self.device)]
        found = encoded(self.mean_query, self.asked, self.kept_back, self.device)
        tools = encoded(self.mean_tool, self.tools, np.arange(self.count), self.device)
        mine = nearest(found, tools, 1)[:, 0]
        theirs = nearest(aim, self.taught.tools[: self.count], 1)[:, 0]
        cosine, same = (found * aim).sum(-1).mean(), (mine == theirs).float().mean()
        self.say(f"{name}: cosine {cosine:.4f}, the same first tool {100 * same:.1f} %")
        if self.others:
            self.say(f"{name}: {self._measured(*self.others)}")

    def _others(self, folder: Path) -> tuple[Rows, Rows, Sequence[Asked]]:
        """Requests and tools that are not learned from."""
        given, start = texts.load(folder), self.args.start
        asked = Rows(cut([each.text for each in given.asked], start, ASKED_PIECES), self.device)
        tools = Rows(cut([document(t) for t in given.tools], start, TOOL_PIECES), self.device)
        return asked, tools, given.asked

    def _measured(self, asked: Rows, tools: Rows, given: Sequence[Asked]) -> str:
        documents = encoded(self.mean_tool, tools, np.arange(len(tools.lengths)), self.device)
        place, told = np.arange(len(given)), []
        for encoder in (self.mean_query, self.mean_tool):
            found = encoded(encoder, asked, place, self.device)
            told.append(share_right(found, documents, given))
        both = (functional.normalize(x[:, :128], dim=-1) for x in (found, documents))
        short = share_right(*both, given)
        return f"by the network for queries {told[0]}; for tools {told[1]}; 128 numbers {short}"

    def save(self) -> None:
        """The mean of the last weights; the network for queries has the pieces of the other."""
        for name, encoder in (("tool", self.mean_tool), ("query", self.mean_query)):
            state = {key: each.float().cpu().numpy() for key, each in encoder.state_dict().items()}
            if name == "query":
                del state[export.WORDS]
            export.store(state, self.args.out, name)


def content(numbers: Tensor, read: Reading, says: Tensor) -> Reading:
    """A text as the second look has it: the first tokens of it that say something."""
    inside = read.real & says[numbers]
    real = inside & (inside.cumsum(1) <= MOST_TOKENS)
    return read._replace(real=real, weights=read.weights * real)


def late_each(queries: Reading, documents: Reading) -> Tensor:
    """How well each query fits documents of its own, word by word: from -1 to 1.

    Each token of the query counts with its best match in the document, by its weight.
    """
    dots = torch.einsum("qik,qdjk->qdij", queries.tokens, documents.tokens)
    best = dots.masked_fill(~documents.real[:, :, None, :], -1).amax(-1).float()
    weights = queries.weights / queries.weights.sum(1, keepdim=True).clamp_min(1e-6)
    return torch.einsum("qdi,qi->qd", best, weights)


def apart(found: Tensor, aim: Tensor) -> Tensor:
    """How far texts are from their places."""
    return 1 - (found * aim).sum(-1).mean()


def order(asked: Tensor, tools: Tensor, wanted: Tensor, right: Tensor) -> Tensor:
    """How far the order of tools is from the one that is wanted, at every size; and back."""
    losses = []
    for size, weight in SIZES.items():
        a, b = (functional.normalize(each[:, :size], dim=-1) for each in (asked, tools))
        losses.append(weight * told_apart(a @ b.T, wanted, right))
    back = functional.softmax(wanted.T / TAU, dim=-1)
    mine = functional.log_softmax((asked @ tools.T).T / TAU, dim=-1)
    return torch.stack(losses).sum() + 0.5 * functional.kl_div(mine, back, reduction="batchmean")


def told_apart(scores: Tensor, wanted: Tensor, right: Tensor) -> Tensor:
    """How far scores tell tools apart from how the teacher does, who is told which are right."""
    aim = functional.softmax(wanted / TAU, dim=-1)
    known = right.any(1, keepdim=True)
    sure = right.float() / right.sum(1, keepdim=True).clamp_min(1)
    aim = torch.where(known, (1 - SURE) * aim + SURE * sure, aim)
    mine = functional.log_softmax(scores.float() / TAU, dim=-1)
    return functional.kl_div(mine, aim, reduction="batchmean")


def optimizer(tool: Encoder, query: Encoder, bound: nn.Parameter) -> torch.optim.AdamW:
    """Pieces learn faster than the rest, the heads of the second look too."""
    words = [tool.words.weight]
    heads = [p for each in (tool, query) for n in (each.tokens, each.weigh) for p in n.parameters()]
    known = {id(each) for each in (*words, *heads)}
    rest = [p for each in (tool, query) for p in each.parameters() if id(p) not in known]
    parts = [
        {"params": words, "factor": WORDY, "weight_decay": 0.0},
        {"params": heads, "factor": HEADY, "weight_decay": 0.0},
        {"params": [bound], "factor": 50.0, "weight_decay": 0.0},
        {"params": rest, "factor": 1.0, "weight_decay": 0.01},
    ]
    return torch.optim.AdamW(parts, lr=RATE, betas=(0.9, 0.98), fused=torch.cuda.is_available())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.distil", description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("taught", type=Path)
    parser.add_argument("start", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--again", type=int, default=AGAIN)
    parser.add_argument("--looked", type=int, default=LOOKED)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument(
        "--told", type=float, default=100, help="seconds from one report to the next"
    )
    parser.add_argument("--measure", type=Path, help="texts that are not learned from")
    parser.add_argument("--seed", type=int, default=1)
    Students(parser.parse_args()).learn()


if __name__ == "__main__":
    main()
