"""Teach a language model where requests and tools belong; it says so of every text.

    python -m training.teach TEXTS MODEL.gguf START OUT --minutes 7

By contrast, on all requests that we wrote and on the pairs of `train_pool`: nearer to the right
tool than to the others of a batch, near ones among them, which START, a folder with a shipped
model, finds. One bound is learned for all: a request is nearer than that to its tool, farther from
one that it only sounds like, and from every tool if none is for it.

OUT gets `texts.npz`: what it makes of the texts (`asked`) and of the tools with and without their
server (`tools`), their principal numbers alone, and the bound. What the model wrote is read, too,
but not learned from.
"""

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training import language_model, texts
from training.gguf import Gguf
from training.language_model import LanguageModel, numbers
from training.network import WIDTH
from training.reading import Reader, nearest, share_right
from training.requests import KINDS
from training.texts import UNSAID, WRONG, Texts, described, says_right

BATCH, LURED = 512, 85
"""Requests of a batch, and as many that only sound like a tool, and as many for none."""
ASKED_MOST, TOOL_MOST = 48, 72
NEAR, SERVERLESS = 30, 0.25
POOL, CHANGED = 0.28, 0.12
"""The shares of pairs of `train_pool` and of requests that a program changed; the rest is ours."""
RATE, TAU, TOO_NEAR, CATALOG = 2e-5, 0.04, 0.93, 64
CHUNK, READ = 160, 1536
"""So many texts are learned from, and read, at a time."""


class Bound(nn.Module):
    """One bound for all requests: what is nearer fits; and how sharply."""

    def __init__(self) -> None:
        super().__init__()
        self.at, self.slope = nn.Parameter(torch.tensor(0.5)), nn.Parameter(torch.tensor(3.0))

    def forward(self, cosines: Tensor) -> Tensor:
        return (cosines - self.at) * self.slope.exp()


class Drawn(NamedTuple):
    """The requests of a batch, the tools that are right for each, and where it has one of them."""

    asked: Sequence[int]
    right: np.ndarray
    tools: np.ndarray


class Lessons:
    """What there is to learn from, as numbers of pieces, and batches of it."""

    def __init__(self, given: Texts, cut: language_model.Tokenizer) -> None:
        self.given, self.count = given, len(given.tools)
        told = [described(tool, server=server) for server in (True, False) for tool in given.tools]
        self.tools = _led("Tool: ", told, TOOL_MOST, cut)
        self.asked = _led("Request: ", [each.text for each in given.asked], ASKED_MOST, cut)
        kinds = np.array([each.kind for each in given.asked])
        said = [says_right(each.kind) for each in given.asked]
        self.said, self.kinds = np.flatnonzero(said), kinds
        self.lures = np.flatnonzero(np.isin(kinds, [*WRONG]))
        self.none = np.flatnonzero(kinds == "none")
        self.shares = _shares(kinds[self.said])
        self.near = np.zeros((len(self.said), 1), np.int64)
        self.real = 1 + max((max(given.asked[n].tools, default=-1) for n in self.said), default=0)

    def right(self, asked: Sequence[int]) -> np.ndarray:
        """The right tools of requests, a row each, filled up with -1."""
        rows = [self.given.asked[n].tools for n in asked]
        found = np.full((len(rows), max(map(len, rows))), -1)
        for row, tools in zip(found, rows, strict=True):
            row[: len(tools)] = tools
        return found

    def batch(self, size: int, chance: np.random.Generator) -> Drawn:
        """Requests, then for each a right tool and a near one."""
        size = min(size, len(self.said))
        place = chance.choice(len(self.said), size, replace=False, p=self.shares)
        asked = self.said[place]
        right = self.right(asked)
        own = np.array([chance.choice(row[row >= 0]) for row in right])
        near = self.near[place, chance.integers(0, self.near.shape[1], size)]
        return Drawn(asked.tolist(), right, np.concatenate([own, near]))

    def ways(self, tools: np.ndarray, chance: np.random.Generator) -> list[list[int]]:
        """Tools as they are read: some without their server."""
        without = chance.random(len(tools)) < SERVERLESS
        return [self.tools[n] for n in tools + without * self.count]


def _led(lead: str, rows: Sequence[str], most: int, cut: language_model.Tokenizer) -> list:
    end = cut.token_to_id(language_model.END)
    first = numbers(cut, [lead], most)[0]
    return [[*first, *each, end] for each in numbers(cut, rows, most)]


def _shares(kinds: np.ndarray) -> np.ndarray:
    changed = np.isin(kinds, ["product", "task"])
    ours = np.isin(kinds, KINDS)
    found = np.zeros(len(kinds))
    for some, share in ((changed, CHANGED), (ours, 1 - POOL - CHANGED), (~ours & ~changed, POOL)):
        found[some] = share / max(1, some.sum())
    return found / found.sum()


class Teaching:
    """The model while it learns."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.chance = args, np.random.default_rng(args.seed)
        torch.manual_seed(args.seed)
        torch.backends.cuda.matmul.allow_tf32 = True
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.started = time.time()
        file = Gguf(args.model)
        self.cut = language_model.tokenizer(file)
        self.lessons = Lessons(texts.load(args.texts), self.cut)
        self.say(f"{len(self.lessons.said)} requests to learn from")
        self._mine_by(args.start)
        self.model: LanguageModel = language_model.loaded(file, self.device).train()
        self.bound = Bound().to(self.device)
        self.say("ready")

    def say(self, text: str) -> None:
        print(f"[teach {time.strftime('%H:%M:%S')}] {text}", flush=True)

    def _mine_by(self, start: Path) -> None:
        """Near tools of each request, as a shipped model has them."""
        given, reader = self.lessons.given, Reader(start, self.device)
        real = given.tools[: self.lessons.real]
        tools = reader.vectors([texts.document(tool) for tool in real], tools=True)
        asked = reader.vectors([given.asked[n].text for n in self.lessons.said])
        self._mined(asked, tools)

    def _mined(self, asked: Tensor, tools: Tensor) -> None:
        right = self.lessons.right(self.lessons.said)[:, 0]
        rows = []
        for start in range(0, len(asked), 1024):
            own = tools[torch.from_numpy(right[start : start + 1024]).to(self.device)]
            scores = asked[start : start + 1024] @ tools.T
            scores = scores.masked_fill(own @ tools.T > TOO_NEAR, -9)
            rows.append(scores.topk(min(NEAR, scores.shape[1])).indices.cpu().numpy())
        self.lessons.near = np.concatenate(rows)

    def learn(self) -> None:
        """Until the time is up; near tools are found anew when half of it is."""
        parts = [
            {"params": [*self.model.parameters()], "factor": 1.0},
            {"params": [*self.bound.parameters()], "factor": 200.0, "weight_decay": 0.0},
        ]
        learner = torch.optim.AdamW(
            parts, lr=RATE, betas=(0.9, 0.98), weight_decay=0.01, fused=self.device == "cuda"
        )
        began, step, mined = time.time(), 0, False
        while (done := (time.time() - began) / (60 * self.args.minutes)) < 1:
            if not mined and done > 0.5 and self.args.mine:
                self._mined(self.read(self.lessons.said), self.read_tools(self.lessons.real))
                mined = True
                self.say("mined")
            rise = min(1.0, (step + 1) / 15)
            for group in learner.param_groups:
                fall = 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done))
                group["lr"] = RATE * rise * fall * group["factor"]
            loss = self.loss()
            learner.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            learner.step()
            step += 1
            if step % 10 == 1:
                pace = (time.time() - began) / step
                self.say(f"step {step} ({done:.0%}) loss {loss.item():.3f} {pace:.2f} s a step")
        self.say(f"{step} steps")

    def loss(self) -> Tensor:
        """Contrast, both ways; and what fits at all."""
        lessons, chance = self.lessons, self.chance
        drawn = lessons.batch(self.args.batch, chance)
        count, few = len(drawn.asked), max(2, self.args.batch * LURED // BATCH)
        lures = chance.choice(lessons.lures, min(few, len(lessons.lures)), replace=False)
        none = chance.choice(lessons.none, min(few, len(lessons.none)), replace=False)
        sound = lessons.right(lures)[:, 0]
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
            rows = [lessons.asked[n] for n in (*drawn.asked, *lures, *none)]
            asked = self.model.vectors(rows, CHUNK)
            every = [*lessons.ways(drawn.tools, chance), *(lessons.tools[n] for n in sound)]
            read = self.model.vectors(every, CHUNK)
        queries, lured, vain = asked.split([count, len(lures), len(none)])
        tools, sounds = read.split([len(drawn.tools), len(sound)])
        known = self._known(queries, lured, vain, tools, sounds, same := self._same(drawn, tools))
        scores = queries @ tools.T
        own = torch.arange(count, device=self.device)
        others = same.clone()
        others[own, own] = False
        hidden = (scores / TAU).masked_fill(others, -1e4)
        back = functional.cross_entropy(hidden[:, :count].T, own)
        return functional.cross_entropy(hidden, own) + 0.3 * back + 0.25 * known

    def _same(self, drawn: Drawn, tools: Tensor) -> Tensor:
        """Which tools of the batch are as good as the right one: right too, or nearly the same."""
        count = len(drawn.asked)
        right = (drawn.right[:, :, None] == drawn.tools[None, None, :]).any(1)
        with torch.no_grad():
            alike = tools[:count] @ tools.T > TOO_NEAR
        return torch.from_numpy(right).to(self.device) | alike

    def _known(
        self,
        queries: Tensor,
        lured: Tensor,
        vain: Tensor,
        tools: Tensor,
        sounds: Tensor,
        same: Tensor,
    ) -> Tensor:
        """How well one bound tells what fits from the best of a catalog that has nothing right."""
        count = len(queries)
        some = torch.randperm(count, device=self.device)[:CATALOG]
        scores = queries @ tools[some].T
        best = scores.masked_fill(same[:, some], -1).amax(1)
        far = (vain @ tools[some].T).amax(1)
        right = (queries * tools[:count]).sum(-1)
        below = functional.softplus(self.bound(torch.cat([best, far]))).mean()
        below = below + 0.5 * functional.softplus(self.bound((lured * sounds).sum(-1))).mean()
        return functional.softplus(-self.bound(right)).mean() + below

    def read(self, places: Sequence[int]) -> Tensor:
        """The vectors of some of the texts."""
        return self._read([self.lessons.asked[n] for n in places])

    def read_tools(self, count: int) -> Tensor:
        return self._read(self.lessons.tools[:count])

    @torch.no_grad()
    def _read(self, rows: Sequence[Sequence[int]]) -> Tensor:
        self.model.eval()
        found = self.model.vectors(rows, READ).half()
        self.model.train()
        return found.float()

    def measure(self, folder: Path) -> None:
        """How often the first tool is right, of texts in another folder."""
        lessons = Lessons(texts.load(folder), self.cut)
        asked, tools = self._read(lessons.asked), self._read(lessons.tools[: lessons.count])
        self.say(f"measured: {share_right(asked, tools, lessons.given.asked)}")

    def tell(self) -> None:
        """Write where all texts belong."""
        tools = self.read_tools(2 * self.lessons.count)
        asked = self.read(range(len(self.lessons.asked)))
        some = torch.cat([asked[torch.randperm(len(asked))[:20_000]], tools])
        basis = torch.linalg.eigh((some.T @ some) / len(some)).eigenvectors.flip(1)[:, :WIDTH]
        basis = functional.pad(basis, (0, WIDTH - basis.shape[1]))
        asked, tools = (functional.normalize(x @ basis, dim=-1) for x in (asked, tools))
        self._report(asked, tools[: self.lessons.count])
        self.args.out.mkdir(parents=True, exist_ok=True)
        arrays = {"asked": asked, "tools": tools, "basis": basis}
        halves = {name: each.half().cpu().numpy() for name, each in arrays.items()}
        bound = np.array([self.bound.at.item(), self.bound.slope.exp().item()])
        np.savez(self.args.out / "texts.npz", **halves, bound=bound)
        self.say(f"bound {bound}, {time.time() - self.started:.0f} s in all")

    def _report(self, asked: Tensor, tools: Tensor) -> None:
        """Where the tool stands that each kind of request was written for."""
        first = nearest(asked, tools, 10).cpu().numpy()
        for kind in sorted({*self.lessons.kinds} - UNSAID - {"none"}):
            places = np.flatnonzero(self.lessons.kinds == kind)
            right = self.lessons.right(places)
            found = [(right[:, :, None] == first[places][:, None, :n]).any((1, 2)) for n in (1, 10)]
            one, ten = (100 * each.mean() for each in found)
            self.say(f"{kind}: {len(places)} texts, first {one:.0f} %, within ten {ten:.0f} %")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.teach", description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("start", type=Path, help="the folder of a shipped model")
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=7)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--mine", type=int, default=1, help="0: not again when half is done")
    parser.add_argument("--measure", type=Path, help="texts that are not learned from")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    teaching = Teaching(args)
    teaching.learn()
    if args.measure:
        teaching.measure(args.measure)
    teaching.tell()


if __name__ == "__main__":
    main()
