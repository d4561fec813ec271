"""Teach a trained model what fits at all, and to look twice: the last stage, on one GPU.

    python -m training.fit FOLDER START OUT

Contrast tells the tools of one query apart; how near the nearest is differs from query to query.
Here one bound has to do for all: a query is nearer than that to its tool, and farther from the
best of a small catalog without it, from a tool that it only sounds like, and from every tool if
none is for it. Contrast goes on beside it, now with the requests that we wrote, and translations
are held where the model had them.

All of that is learned twice: by the vectors of whole texts, which find the candidates, and by
those of tokens, each word of a query against its best match in the tool, which put them in order.
"""

import argparse
import copy
import json
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from toolcrib.embed.bundled.tokenizer import says_something
from training import export, measure
from training.batches import SHARES_B, Lessons, Questions, Texts, encoded
from training.learning import Average, Pace, learn, mixed, optimizer, save
from training.look import content, looked_at
from training.losses import (
    Bound,
    contrast,
    distil,
    fits,
    fits_near,
    fits_not,
    late,
    late_each,
    same_order,
    tell_apart,
)
from training.network import Encoder, Reading, loaded
from training.tensors import TEXT_MOST, Numbering, lines, ragged

OWN = {"own": 0.2, "own_zh": 0.12, "own_task": 0.07, "own_hint": 0.1}
FUNCTIONS = {"function": 0.08, "function_zh": 0.06, "function_hint": 0.04}
CHANGED = {"own_typo": 0.06, "own_product": 0.05}
"""Requests of ours that a program has changed: misspelt, or with the name of the product."""
SHARES = {s: 0.25 * share for s, share in SHARES_B.items()} | OWN | FUNCTIONS | CHANGED
SHARES_MEASURED = (0.5, 0.75, 1.0)
HEADS_FIRST = 150
"""So many steps the heads of the second look learn alone."""


class Itself:
    """A model as its own teacher."""

    def __init__(self, encoder: Encoder, folder: Path, device: str) -> None:
        self._encoder = copy.deepcopy(encoder).eval()
        self._cut = Numbering(folder, words=True, most=TEXT_MOST)
        self._device = device

    def vectors(self, texts: list[str]) -> Tensor:
        rows = Texts.of(ragged(texts, self._cut, TEXT_MOST), self._device)
        return encoded(self._encoder, rows, self._device)


class Unfit(NamedTuple):
    """Queries that only sound like a tool, those tools, and queries that no tool is for."""

    missed: Reading
    lures: Reading
    none: Reading


class Fitting:
    """The last stage: data, model and bound."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.chance = np.random.default_rng(args.seed)
        torch.manual_seed(args.seed)
        self.start = loaded(export.trained(args.start, "model")).to(self.device).eval()
        itself = Itself(self.start, args.folder, self.device)
        self.lessons = Lessons(args.folder, itself, self.device, words=True, part=args.part)
        self.questions = Questions(args.folder, self.device, words=True, shares=SHARES)
        self.dev = measure.load(args.folder, words=True, device=self.device)
        pieces = [row[0] for row in lines(args.folder / "pieces.txt")]
        self.says = torch.tensor([*map(says_something, pieces)], device=self.device)

    def run(self) -> None:
        """Learn, measure mixtures with the start, save what was learned."""
        self.report("before", self.start)
        learned = self.learned()
        for share in SHARES_MEASURED:
            self.report(f"x{share}", mixed(self.start, learned, share))
        save(learned, self.args.out, "model")

    def learned(self) -> Encoder:
        """The mean of the weights over the last steps."""
        args, encoder = self.args, copy.deepcopy(self.start)
        average, bounds = Average(encoder), (Bound().to(self.device), Bound().to(self.device))
        pace = Pace(args.steps, args.minutes, args.rate)
        learner = optimizer(encoder, 2.0, after=min(HEADS_FIRST, args.steps // 10))
        for each in bounds:
            learner.add_param_group({"params": [*each.parameters()], "factor": 20.0})

        def after(value: Tensor) -> None:
            if pace.step % 400 == 0:
                self.questions.find_near(encoder)
            average.add(encoder, pace.step)
            if told := pace.told(value):
                self.say(told)

        self.questions.find_near(encoder)
        learn(encoder, learner, pace, lambda: self.loss(encoder, bounds), after)
        return average.encoder

    def loss(self, encoder: Encoder, bounds: tuple[Bound, Bound]) -> Tensor:
        """All at once: which fits better, what fits at all, what was known before."""
        args = self.args
        asked, tools, alike = self.questions.batch(args.batch, self.chance)
        queries = self._content(asked, encoder.read(asked))
        documents = self._content(tools, encoder.read(tools))
        unfit = self._unfit(encoder)
        better, first = self._whole(bounds[0], queries, documents, alike, unfit)
        second, look = self._by_words(bounds[1], queries, documents, alike, unfit)
        kept = distil(encoder, self.lessons.batch(args.keep_batch, self.chance))
        return (
            better
            + args.look * second
            + args.fit * (first + look)
            + args.keep * kept
            + args.order * self._order(encoder)
        )

    def _unfit(self, encoder: Encoder) -> Unfit:
        missed, sound, none = self.questions.unfit(self.args.unfit, self.chance)
        texts = (missed, sound, none)
        return Unfit(*(self._content(each, encoder.read(each)) for each in texts))

    def _whole(
        self, bound: Bound, queries: Reading, documents: Reading, alike: Tensor, unfit: Unfit
    ) -> tuple[Tensor, Tensor]:
        """Which fits better and what fits at all, by the vectors of whole texts."""
        cosines = queries.vectors @ documents.vectors.T
        missed = (unfit.missed.vectors * unfit.lures.vectors).sum(-1)
        none = unfit.none.vectors @ documents.vectors.T
        fit = fits(bound, cosines, alike) + fits_not(bound, missed, none)
        return contrast(queries.vectors, documents.vectors, alike), fit

    def _by_words(
        self, bound: Bound, queries: Reading, documents: Reading, alike: Tensor, unfit: Unfit
    ) -> tuple[Tensor, Tensor]:
        """The same by tokens: among all right documents, and the wrong ones of each query."""
        count = len(queries.vectors)
        right = documents.at(slice(0, count))
        own = torch.arange(count, documents.vectors.shape[0], device=self.device).view(-1, count).T
        looks = torch.cat([late(queries, right), late_each(queries, documents.at(own))], dim=1)
        same = torch.cat([alike[:, :count], alike.gather(1, own)], dim=1)
        missed = late_each(unfit.missed, unfit.lures.at((slice(None), None))).squeeze(1)
        near = looks[:, count]
        fit = fits_near(bound, looks, near, same) + fits_not(bound, missed, late(unfit.none, right))
        return tell_apart(looks, same, self.args.tau), fit

    def _order(self, encoder: Encoder) -> Tensor:
        """How far the order of tools without a server is from what it was."""
        asked, tools = self.questions.known(self.args.known, self.chance)
        with torch.no_grad():
            before = self.start(asked) @ self.start(tools).T
        return same_order(encoder(asked) @ encoder(tools).T, before)

    def _content(self, numbers: Tensor, read: Reading) -> Reading:
        return content(numbers, read, self.says)

    def report(self, name: str, encoder: Encoder) -> None:
        """Say how good it is."""
        table = measure.table(encoder, self.dev, 384, self.device)
        vain = measure.in_vain(encoder, self.dev, self.device)
        self.say(f"{name}: in vain {json.dumps(vain)}; {json.dumps(table)}")
        self.say(f"{name}: looked at twice {json.dumps(looked_at(encoder, self.dev, self.says))}")

    def say(self, text: str) -> None:
        print(f"[fit {time.strftime('%H:%M:%S')}] {text}", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.fit", description=__doc__)
    parser.add_argument("folder", type=Path, help="what `bundle` made")
    parser.add_argument("start", type=Path, help="the model to start from")
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--unfit", type=int, default=96, help="queries that do not fit, each sort")
    parser.add_argument("--fit", type=float, default=0.5, help="the weight of what fits at all")
    parser.add_argument("--keep", type=float, default=1.0, help="the weight of what was known")
    parser.add_argument("--order", type=float, default=1.0, help="the weight of the former order")
    parser.add_argument("--known", type=int, default=256, help="queries whose order is kept")
    parser.add_argument("--keep-batch", type=int, default=512)
    parser.add_argument("--look", type=float, default=1.0, help="the weight of the second look")
    parser.add_argument("--tau", type=float, default=0.03, help="how sharply it tells tools apart")
    parser.add_argument("--part", type=float, default=0.3, help="of the translations")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    Fitting(arguments()).run()
