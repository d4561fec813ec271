"""Teach a trained model what fits at all, beside what fits better: the last stage, on one GPU.

    python -m training.fit FOLDER START OUT

Contrast tells the tools of one query apart; how near the nearest is differs from query to query.
Here one bound has to do for all: a query is nearer than that to its tool, and farther from the
best of a small catalog without it, from a tool that it only sounds like, and from every tool if
none is for it. Contrast goes on beside it, now with the requests that we wrote, and translations
are held where the model had them.
"""

import argparse
import copy
import json
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training import export, measure
from training.batches import SHARES_B, Lessons, Questions, Texts, encoded
from training.learning import Average, Pace, learn, mixed, optimizer, save
from training.losses import Bound, contrast, distil, fits, fits_not
from training.network import Encoder, loaded
from training.tensors import TEXT_MOST, Numbering, ragged

OWN = {"own": 0.2, "own_zh": 0.12, "own_task": 0.06, "own_hint": 0.1}
SHARES = {source: 0.52 * share for source, share in SHARES_B.items()} | OWN
SHARES_MEASURED = (0.6, 0.8, 1.0)


class Itself:
    """A model as its own teacher."""

    def __init__(self, encoder: Encoder, folder: Path, device: str) -> None:
        self._encoder = copy.deepcopy(encoder).eval()
        self._cut = Numbering(folder, words=True, most=TEXT_MOST)
        self._device = device

    def vectors(self, texts: list[str]) -> Tensor:
        rows = Texts.of(ragged(texts, self._cut, TEXT_MOST), self._device)
        return encoded(self._encoder, rows, self._device)


class Fitting:
    """The last stage: data, model and bound."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.chance = np.random.default_rng(args.seed)
        torch.manual_seed(args.seed)
        self.start = loaded(export.trained(args.start, "model")).to(self.device)
        itself = Itself(self.start, args.folder, self.device)
        self.lessons = Lessons(args.folder, itself, self.device, words=True, part=args.part)
        self.questions = Questions(args.folder, self.device, words=True, shares=SHARES)
        self.dev = measure.load(args.folder, words=True, device=self.device)

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
        average, bound = Average(encoder), Bound().to(self.device)
        pace = Pace(args.steps, args.minutes, args.rate)
        learner = optimizer(encoder, 2.0)
        learner.add_param_group({"params": [*bound.parameters()], "factor": 20.0})

        def after(value: Tensor) -> None:
            if pace.step % 400 == 0:
                self.questions.find_near(encoder)
            average.add(encoder, pace.step)
            if told := pace.told(value):
                self.say(told)

        self.questions.find_near(encoder)
        learn(encoder, learner, pace, lambda: self.loss(encoder, bound), after)
        return average.encoder

    def loss(self, encoder: Encoder, bound: Bound) -> Tensor:
        """All at once: which fits better, what fits at all, what was known before."""
        asked, tools, alike = self.questions.batch(self.args.batch, self.chance)
        queries, documents = encoder(asked), encoder(tools)
        missed, sound, none = map(encoder, self.questions.unfit(self.args.unfit, self.chance))
        fit = fits(bound, queries, documents, alike)
        fit = fit + fits_not(bound, (missed, sound), none, documents)
        kept = distil(encoder, self.lessons.batch(self.args.batch, self.chance))
        better = contrast(queries, documents, alike)
        return better + self.args.fit * fit + self.args.keep * kept

    def report(self, name: str, encoder: Encoder) -> None:
        """Say how good it is."""
        table = measure.table(encoder, self.dev, 384, self.device)
        vain = measure.in_vain(encoder, self.dev, self.device)
        self.say(f"{name}: in vain {json.dumps(vain)}; {json.dumps(table)}")

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
    parser.add_argument("--part", type=float, default=0.3, help="of the translations")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    Fitting(arguments()).run()
