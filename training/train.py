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
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import BertWordPieceTokenizer
from torch import Tensor, nn
from torch.nn import functional

from training import measure
from training.network import WIDTH, Encoder, Weights
from training.tensors import (
    TEXT_MOST,
    TOOL_MOST,
    Numbering,
    Ragged,
    doc_texts,
    lessons,
    lines,
    ragged,
)

POSITIONS = 128
SHORTER = (384, 256, 128)
TAU = 0.05
NEAR = 24
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


def autocast(device: str) -> torch.autocast:
    return torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda")


class Lessons:
    """Stage A: batches of texts of about one length, kinds in their shares."""

    def __init__(
        self, folder: Path, teacher: Teacher, device: str, *, words: bool, part: float
    ) -> None:
        pairs = lines(folder / "pairs.tsv")
        tools = lines(folder / "tools.tsv")
        asked = [row[2] for row in lines(folder / "queries.tsv") if row[2].isascii()]
        plain = [doc_texts(tool)[0] for tool in tools] + asked
        rows = lessons(pairs, plain)
        rows = rows[: max(2000, int(len(rows) * part))] if part < 1 else rows
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

    def __init__(self, folder: Path, device: str, *, words: bool) -> None:
        tools = lines(folder / "tools.tsv")
        rows = lines(folder / "queries.tsv")
        cut = Numbering(folder, words=words, most=TOOL_MOST)
        ways = list(zip(*(doc_texts(tool) for tool in tools), strict=True))
        self.documents = [Texts.of(ragged(list(way), cut, TOOL_MOST), device) for way in ways]
        self.queries = Texts.of(ragged([row[2] for row in rows], cut, TEXT_MOST), device)
        self.tool = np.array([int(row[1]) for row in rows])
        sources = np.array([row[0] for row in rows])
        self.of = {s: found for s in SHARES_B if len(found := np.flatnonzero(sources == s))}
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
        total = sum(SHARES_B[source] for source in self.of)
        parts = {
            s: chance.choice(found, max(1, int(size * SHARES_B[s] / total)))
            for s, found in self.of.items()
        }
        asked = np.concatenate(list(parts.values()))
        nameless = np.concatenate([np.full(len(p), s == "mcp_name") for s, p in parts.items()])
        right = self.tool[asked]
        wrong = self.near[right, chance.integers(0, NEAR, len(right))]
        both = np.concatenate([right, wrong])
        way = chance.choice(3, len(both), p=(0.6, 0.25, 0.15))
        way[: len(right)][nameless] = 2
        return self.queries.at(asked), self._documents(both, way), self._alike(right, both)

    def _alike(self, right: np.ndarray, both: np.ndarray) -> Tensor:
        """Which documents of the batch are as good as the right one: the same, or nearly."""
        assert self.anchor is not None
        place = torch.from_numpy(both).to(self.device)
        anchors = self.anchor[place]
        same = place[: len(right), None] == place[None, :]
        return same | (anchors[: len(right)] @ anchors.T > TOO_NEAR)

    def _documents(self, places: np.ndarray, way: np.ndarray) -> Tensor:
        width = max(
            int(self.documents[w].lengths[places[way == w]].max(initial=1)) for w in range(3)
        )
        at = torch.from_numpy(places).to(self.device)
        chosen = torch.from_numpy(way).to(self.device)
        stacked = torch.stack([each.rows[at, :width] for each in self.documents])
        return stacked[chosen, torch.arange(len(places), device=self.device)]


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


def distil(encoder: nn.Module, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    """How far translation and English are from the teacher, and from each other among many."""
    other, english = encoder(batch[0]), encoder(batch[1])
    apart = 2 - (other * batch[2]).sum(-1).mean() - (english * batch[2]).sum(-1).mean()
    right = torch.arange(len(other), device=other.device)
    taught = functional.cross_entropy(other @ batch[2].T / TAU, right, label_smoothing=0.05)
    shorter = [_contrast(other, english, right, size) for size in (384, 128)]
    return 4 * apart + 0.3 * sum(shorter) / len(shorter) + 0.2 * taught


def _contrast(left: Tensor, right: Tensor, answer: Tensor, size: int) -> Tensor:
    a = functional.normalize(left[:, :size], dim=-1)
    b = functional.normalize(right[:, :size], dim=-1)
    scores = a @ b.T / TAU
    return (
        functional.cross_entropy(scores, answer, label_smoothing=0.05)
        + functional.cross_entropy(scores.T, answer, label_smoothing=0.05)
    ) / 2


def contrast(encoder: nn.Module, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    """How well each query tells its tool from the others of the batch, at every size."""
    queries, documents = encoder(batch[0]), encoder(batch[1])
    count = len(queries)
    right = torch.arange(count, device=queries.device)
    others = batch[2] & ~torch.eye(count, len(documents), dtype=torch.bool, device=queries.device)
    losses = []
    for size in SHORTER:
        a = functional.normalize(queries[:, :size], dim=-1)
        b = functional.normalize(documents[:, :size], dim=-1)
        scores = (a @ b.T / TAU).masked_fill(others, -1e4)
        back = scores[:, :count].T
        losses.append(
            functional.cross_entropy(scores, right) + 0.3 * functional.cross_entropy(back, right)
        )
    return torch.stack(losses).mean()


class Pace:
    """How fast to learn: a rise, then a fall along a cosine, to end with the steps or the time."""

    def __init__(self, steps: int, minutes: float, rate: float, rise: int = 200) -> None:
        self.step = 0
        self._steps, self._seconds, self._rate, self._rise = steps, 60 * minutes, rate, rise
        self._started = time.time()

    @property
    def done(self) -> float:
        """The share that is behind us."""
        return max(self.step / self._steps, (time.time() - self._started) / self._seconds)

    @property
    def milliseconds(self) -> float:
        """What a step took, in the mean."""
        return 1000 * (time.time() - self._started) / max(1, self.step)

    def rate(self) -> float:
        up = min(1.0, (self.step + 1) / self._rise)
        return self._rate * up * (0.03 + 0.97 * 0.5 * (1 + math.cos(math.pi * min(1, self.done))))


def optimizer(encoder: Encoder, wordy: float) -> torch.optim.AdamW:
    words = [encoder.words.weight]
    rest = [p for n, p in encoder.named_parameters() if n != "words.weight"]
    groups = [
        {"params": words, "factor": wordy, "weight_decay": 0.0},
        {"params": rest, "factor": 1.0, "weight_decay": 0.01},
    ]
    return torch.optim.AdamW(groups, lr=1e-4, betas=(0.9, 0.98), fused=torch.cuda.is_available())


@torch.no_grad()
def mixed(before: Encoder, after: Encoder, share: float) -> Encoder:
    """Weights between those of two models."""
    between = copy.deepcopy(before)
    for own, other in zip(between.parameters(), after.parameters(), strict=True):
        own.lerp_(other, share)
    return between


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

        self._learn("A", pace, optimizer(self.encoder, args.wordy), loss)
        self._report("A", self.encoder)

    def stage_b(self) -> None:
        """The mean over the last steps, mixed with stage A where that measures better, is kept."""
        args = self.args
        before, average = copy.deepcopy(self.encoder), copy.deepcopy(self.encoder)
        pace = Pace(args.steps_b, args.minutes_b, args.rate_b)
        self.encoder = copy.deepcopy(before)
        self.questions.anchor = None
        slow, fast = list(average.parameters()), list(self.encoder.parameters())

        def loss() -> Tensor:
            asked = contrast(self.encoder, self.questions.batch(args.batch_b, self.chance))
            return asked + args.keep * distil(
                self.encoder, self.lessons.batch(args.batch_b, self.chance)
            )

        def after(step: int) -> None:
            if step % 400 == 399:
                self.questions.find_near(self.encoder)
            share = min(0.995, (step + 1) / (step + 10))
            torch._foreach_lerp_([p.data for p in slow], [p.data for p in fast], 1 - share)

        self.questions.find_near(self.encoder)
        self._learn("B", pace, optimizer(self.encoder, 2.0), loss, after)
        for share in (0.6, 0.8, 1.0):
            self._keep(mixed(before, average, share), f"B x{share}")

    def _keep(self, encoder: Encoder, stage: str) -> None:
        """Save it if it is the best so far."""
        mean = self._report(stage, encoder)
        if mean > self.best and self.args.save:
            self.best = mean
            self.say(f"best so far: {stage}")
            save(encoder, Path(self.args.out), self.args.name)

    def _learn(
        self,
        stage: str,
        pace: Pace,
        learner: torch.optim.AdamW,
        loss: Callable[[], Tensor],
        after: Callable[[int], None] = lambda _step: None,
    ) -> None:
        while pace.done < 1:
            for group in learner.param_groups:
                group["lr"] = pace.rate() * group["factor"]
            with autocast(self.device):
                value = loss()
            learner.zero_grad(set_to_none=True)
            value.backward()
            nn.utils.clip_grad_norm_(self.encoder.parameters(), 1.0)
            learner.step()
            after(pace.step)
            pace.step += 1
            if pace.step % 250 == 0 or pace.step == 5:
                speed = f"{pace.milliseconds:.0f} ms a step"
                self.say(f"{stage} {pace.step} ({pace.done:.0%}) loss {value.item():.3f} {speed}")

    def _report(self, stage: str, encoder: Encoder) -> float:
        """Say how good it is; the mean over the development sets."""
        tables = {size: measure.table(encoder, self.dev, size, self.device) for size in (384, 256)}
        for size, table in tables.items():
            self.say(f"{stage} {size}: {json.dumps(table)}")
        return tables[384]["mean"]


def save(encoder: Encoder, out: Path, name: str) -> None:
    """In files of less than 16 MiB each."""
    out.mkdir(parents=True, exist_ok=True)
    state = {n: t.detach().to(torch.float16).cpu().numpy() for n, t in encoder.state_dict().items()}
    words = state.pop("words.weight")
    half = len(words) // 2
    np.save(out / f"{name}-words-0.npy", words[:half])
    np.save(out / f"{name}-words-1.npy", words[half:])
    early = {n: a for n, a in state.items() if n.split(".")[1] in {"0", "1", "2"}}
    np.savez(out / f"{name}-early.npz", **early)
    np.savez(out / f"{name}-late.npz", **{n: a for n, a in state.items() if n not in early})


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
