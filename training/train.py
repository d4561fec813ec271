"""Train the bundled model on one GPU, from a folder that `bundle.py` made.

    python -m training.train FOLDER OUT --layers 6 --steps-a 6000 --steps-b 2500

Stage A, distillation: a translation and its English are drawn to where the teacher (MiniLM) puts
the English. Stage B, contrast: a query to its tool, away from other tools, near ones among them;
stage A goes on beside it so that nothing is forgotten. Both learn short vectors too: the first
256 and 128 numbers of each.
"""

import argparse
import copy
import json
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import BertWordPieceTokenizer
from torch import Tensor

from training import measure
from training.batches import Lessons, Questions, autocast
from training.learning import Average, Pace, learn, mixed, optimizer, save
from training.losses import contrast, distil
from training.network import POSITIONS, WIDTH, Encoder, Weights
from training.tensors import lines


class Teacher:
    """MiniLM as it is, with its own tokenizer."""

    def __init__(self, folder: Path, device: str) -> None:
        arrays = np.load(folder / "teacher.npz")
        tensors = {name: torch.from_numpy(arrays[name].astype(np.float32)) for name in arrays.files}
        tensors["words"] = tensors["words"] * tensors.pop("words.scale")
        self.weights = Weights(tensors)
        self.vocabulary = [row[0] for row in lines(folder / "teacher_vocab.txt")]
        vocabulary = {piece: number for number, piece in enumerate(self.vocabulary)}
        self._tokenizer = BertWordPieceTokenizer(vocabulary)
        self._tokenizer.enable_truncation(POSITIONS)
        self._encoder = Encoder(len(self.vocabulary), POSITIONS, 6)
        self.weights.into(self._encoder)
        self._encoder.words.weight.data.copy_(tensors["words"])
        self._encoder.to(device).eval()
        self._device = device

    @torch.no_grad()
    def vectors(self, texts: list[str], batch: int = 2048) -> Tensor:
        """One row a text, 16 bits each."""
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        out = torch.empty(len(texts), WIDTH, dtype=torch.float16, device=self._device)
        for start in range(0, len(order), batch):
            some = order[start : start + batch]
            found = [each.ids for each in self._tokenizer.encode_batch([texts[n] for n in some])]
            width = max(map(len, found))
            ids = torch.tensor([each + [0] * (width - len(each)) for each in found])
            with autocast(self._device):
                rows = self._encoder(ids.to(self._device))
            out[torch.tensor(some, device=self._device)] = rows.half()
        return out


class Run:
    """One training: data, model and the two stages."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.chance = np.random.default_rng(args.seed)
        torch.manual_seed(args.seed)
        folder = Path(args.folder)
        started = time.time()
        teacher = Teacher(folder, self.device)
        self.lessons = Lessons(folder, teacher, self.device, words=args.words, part=args.part)
        self.questions = Questions(folder, self.device, words=args.words)
        self.dev = measure.load(folder, words=args.words, device=self.device)
        self.fresh = self.encoder = self._start(folder, teacher)
        self.best = -1.0
        self.say(f"prepared in {time.time() - started:.0f} s: {len(self.lessons.taught)} lessons")

    def say(self, text: str) -> None:
        print(f"[{self.args.name} {time.strftime('%H:%M:%S')}] {text}", flush=True)

    def _start(self, folder: Path, teacher: Teacher) -> Encoder:
        pieces = [row[0] for row in lines(folder / "pieces.txt")]
        encoder = Encoder(len(pieces), POSITIONS, self.args.layers)
        teacher.weights.into(encoder)
        place = {piece: n for n, piece in enumerate(teacher.vocabulary)}
        old = teacher.weights.tensors["words"]
        words = old.mean(0).repeat(len(pieces), 1) + 0.01 * torch.randn(len(pieces), WIDTH)
        known = [(n, place[p]) for n, p in enumerate(pieces) if p in place]
        words[[n for n, _ in known]] = old[[n for _, n in known]]
        new = torch.tensor([p not in place or not p.removeprefix("##").isascii() for p in pieces])
        words = self._aligned(words.to(self.device), new.to(self.device))
        encoder.words.weight.data.copy_(words)
        return encoder.to(self.device)

    @torch.no_grad()
    def _aligned(self, words: Tensor, new: Tensor) -> Tensor:
        """New pieces begin at the mean of the English pieces that they stand beside most."""
        count, device = len(words), self.device
        together = torch.zeros(count, count, device=device)
        mine, theirs = torch.zeros(count, device=device), torch.zeros(count, device=device)
        for start in range(0, len(self.lessons.taught), 4096):
            a = self._present(self.lessons.other.rows[start : start + 4096], count)
            b = self._present(self.lessons.english.rows[start : start + 4096], count)
            together += (a.T @ b).float()
            mine += a.float().sum(0)
            theirs += b.float().sum(0)
        together[:, :3] = 0
        likely = together * 2 / (mine[:, None] + theirs[None, :] + 2)
        best = likely.topk(3)
        weights = (best.values**2).clamp_min(1e-9)
        mean = (words[best.indices] * (weights / weights.sum(-1, keepdim=True))[..., None]).sum(1)
        usable = new & (best.values[:, 0] > 0.02)
        return torch.where(usable[:, None], mean, words)

    def _present(self, rows: Tensor, count: int) -> Tensor:
        found = torch.zeros(len(rows), count, dtype=torch.bfloat16, device=self.device)
        return found.scatter_(1, rows.long(), 1.0)

    def stage_a(self) -> None:
        args = self.args
        pace = Pace(args.steps_a, args.minutes_a, args.rate_a)

        def loss() -> Tensor:
            return distil(self.encoder, self.lessons.batch(args.batch_a, self.chance))

        def after(value: Tensor) -> None:
            self.say_step("A", pace, value)

        learn(self.encoder, optimizer(self.encoder, args.wordy), pace, loss, after)
        self._report("A", self.encoder)

    def stage_b(self) -> None:
        """The mean over the last steps, mixed with stage A where that measures better, is kept."""
        args = self.args
        before, average = copy.deepcopy(self.encoder), Average(self.encoder)
        pace = Pace(args.steps_b, args.minutes_b, args.rate_b)
        self.encoder = copy.deepcopy(before)
        self.questions.anchor = None

        def loss() -> Tensor:
            queries, documents, alike = self.questions.batch(args.batch_b, self.chance)
            asked = contrast(self.encoder(queries), self.encoder(documents), alike)
            return asked + args.keep * distil(
                self.encoder, self.lessons.batch(args.batch_b, self.chance)
            )

        def after(value: Tensor) -> None:
            if pace.step % 400 == 0:
                self.questions.find_near(self.encoder)
            average.add(self.encoder, pace.step)
            self.say_step("B", pace, value)

        self.questions.find_near(self.encoder)
        learn(self.encoder, optimizer(self.encoder, 2.0), pace, loss, after)
        for share in (0.6, 0.8, 1.0):
            self._keep(mixed(before, average.encoder, share), f"B x{share}")

    def say_step(self, stage: str, pace: Pace, value: Tensor) -> None:
        if told := pace.told(value):
            self.say(f"{stage} {told}")

    def _keep(self, encoder: Encoder, stage: str) -> None:
        """Save it if it is the best so far."""
        mean = self._report(stage, encoder)
        if mean > self.best and self.args.save:
            self.best = mean
            self.say(f"best so far: {stage}")
            save(encoder, Path(self.args.out), self.args.name)

    def _report(self, stage: str, encoder: Encoder) -> float:
        """Say how good it is; the mean over the development sets."""
        tables = {size: measure.table(encoder, self.dev, size, self.device) for size in (384, 256)}
        for size, table in tables.items():
            self.say(f"{stage} {size}: {json.dumps(table)}")
        return tables[384]["mean"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--name", default="model")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--words", type=int, default=1)
    parser.add_argument("--steps-a", type=int, default=8000)
    parser.add_argument("--steps-b", type=int, default=3000)
    parser.add_argument("--batch-a", type=int, default=1024)
    parser.add_argument("--batch-b", type=int, default=512)
    parser.add_argument("--rate-a", type=float, default=3e-4)
    parser.add_argument("--rate-b", type=float, default=1e-4)
    parser.add_argument("--keep", type=float, default=0.5)
    parser.add_argument("--minutes-a", type=float, default=5)
    parser.add_argument("--minutes-b", type=float, default=3)
    parser.add_argument("--part", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", type=int, default=1)
    parser.add_argument("--wordy", type=float, default=4.0)
    parser.add_argument("--plans", default="[{}]")
    return parser.parse_args()


def main() -> None:
    """Train by each plan in turn; one without stage A goes on from the last that had it."""
    args = arguments()
    run = Run(args)
    distilled = run.encoder
    for number, plan in enumerate(json.loads(args.plans)):
        run.args = argparse.Namespace(**{**vars(args), **plan})
        run.say(f"plan {number}: {plan}")
        if run.args.steps_a:
            run.encoder = copy.deepcopy(run.fresh)
            run.stage_a()
            distilled = run.encoder
        run.encoder = distilled
        run.stage_b()


if __name__ == "__main__":
    main()
