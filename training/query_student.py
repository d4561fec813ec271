"""Teach fewer layers to read as the shipped model reads: one student, by the clock, on one GPU.

    python -m training.query_student TEXTS MODEL OUT --layers 0 2 5 --inner 1536 --seconds 400

TEXTS is what `training.query_texts` wrote, MODEL the folder of the shipped model. The student keeps
the pieces of that model and begins with some of its layers, the feed-forward nets cut down to their
busiest units. It learns where the model puts texts and their tokens, how much each token counts,
and how all of these compare with tools: those the shipped model reads, now and later. So vectors
that are kept of tools stay as they are. OUT gets the student, 16 bits a number, halfway and at the
end; what it says of texts that were kept back is in the log.
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from training import export
from training.batches import autocast
from training.learning import Average
from training.look import content
from training.losses import late_each, same_order
from training.network import INNER, Encoder, Layer, Reading, loaded
from training.query_batches import QUERY_SHARES, TOOLS, Flat, QueryBatches

STARTED = time.monotonic()
RISE = 300
RATE = 7e-4
LOOKS, NEAR, RANDOM = 192, 24, 8
"""How many queries of a batch are compared word by word, with how many near tools and others."""
HIDDEN_UNTIL = 0.5
"""For this share of the time the layers in between are led as well."""
SAID_S, MEASURED_S = 5.0, 45.0
TOOL_WIDTH = 80
WEIGHTS = {
    "vector": 20.0,
    "tokens": 5.0,
    "weights": 10.0,
    "state": 1.0,
    "hidden": 0.5,
    "order": 2.0,
    "look": 1.0,
}


class Bank(NamedTuple):
    """The tools that queries are compared with, as the shipped model reads them."""

    reading: Reading

    @classmethod
    def of(cls, teacher: Encoder, tools: Flat, says: Tensor) -> "Bank":
        found: list[Reading] = []
        for places in torch.arange(len(tools.starts), device=says.device).split(2048):
            numbers = tools.padded(places, TOOL_WIDTH)
            with torch.no_grad():
                read = content(numbers, teacher.read(numbers), says)
            found.append(read._replace(tokens=read.tokens.half()))
        return cls(Reading(*map(torch.cat, zip(*found, strict=True))))


def student_of(teacher: Encoder, layers: list[int], inner: int, numbers: Tensor) -> Encoder:
    """An encoder of some of the layers, with the units that these texts use most."""
    used = [_use(layer) for layer in teacher.layers]
    with torch.no_grad():
        teacher.read(numbers)
    state = {k: v for k, v in teacher.state_dict().items() if not k.startswith("layers.")}
    for to, of in enumerate(layers):
        kept = used[of]().topk(inner).indices.sort().values
        own = teacher.layers[of].state_dict()
        own["up.weight"], own["up.bias"] = own["up.weight"][kept], own["up.bias"][kept]
        own["down.weight"] = own["down.weight"][:, kept]
        state |= {f"layers.{to}.{name}": tensor for name, tensor in own.items()}
    arrays = {name: tensor.float().cpu().numpy() for name, tensor in state.items()}
    student = loaded(arrays).to(numbers.device)
    student.words.weight.requires_grad_(requires_grad=False)
    return student


def _use(layer: Layer) -> Callable[[], Tensor]:
    """How much each unit of a layer adds, asked after it has read something."""
    heard: list[Tensor] = []

    def hear(_module: nn.Module, _given: object, made: Tensor) -> None:
        if not heard:
            heard.append(functional.gelu(made).abs().float().mean((0, 1)))

    layer.up.register_forward_hook(hear)
    return lambda: heard[0] * layer.down.weight.float().norm(dim=0)


class Lessons:
    """What the student shall make small, each by its name."""

    def __init__(self, teacher: Encoder, student: Encoder, bank: Bank, says: Tensor) -> None:
        self._teacher, self._student, self._bank, self._says = teacher, student, bank, says
        count, whole = len(student.layers), len(teacher.layers)
        self._led = [round((n + 1) * whole / count) - 1 for n in range(count)]

    def __call__(self, numbers: Tensor) -> dict[str, Tensor]:
        with torch.no_grad():
            taught = self._teacher.states(numbers)
            aim = content(numbers, self._teacher.reading(taught[-1], numbers), self._says)
        with autocast(numbers.device.type):
            states = self._student.states(numbers)
        real = (numbers > 0)[..., None]
        apart = [
            _apart(own, taught[place], real) for own, place in zip(states, self._led, strict=True)
        ]
        last = states[-1].float()
        read = content(numbers, self._student.reading(last, numbers), self._says)
        return {
            "state": apart[-1],
            "hidden": torch.stack(apart[:-1]).mean(),
            **self._compared(read, aim),
        }

    def _compared(self, read: Reading, aim: Reading) -> dict[str, Tensor]:
        share = aim.real * (aim.weights + 0.2)
        cosines = (read.tokens * aim.tokens).sum(-1)
        tools = self._bank.reading.vectors
        before = aim.vectors @ tools.T
        return {
            "vector": 1 - (read.vectors * aim.vectors).sum(-1).mean(),
            "tokens": (share * (1 - cosines)).sum() / share.sum().clamp_min(1e-6),
            "weights": ((read.weights - aim.weights) ** 2).sum() / aim.real.sum().clamp_min(1),
            "order": same_order(read.vectors @ tools.T, before),
            "look": self._looked(read, aim, before),
        }

    def _looked(self, read: Reading, aim: Reading, before: Tensor) -> Tensor:
        """How far the second look at some tools is from the teacher's, beside how these differ."""
        some = torch.randperm(len(before), device=before.device)[:LOOKS]
        near = before[some].topk(min(NEAR, before.shape[1])).indices
        others = torch.randint(before.shape[1], (len(some), RANDOM), device=near.device)
        tools = self._bank.reading.at(torch.cat([near, others], dim=1))
        tools = tools._replace(tokens=tools.tokens.float())
        mine, theirs = late_each(read.at(some), tools), late_each(aim.at(some), tools)
        spread = theirs.var(dim=1).mean().clamp_min(1e-6)
        return ((mine - theirs) ** 2).mean() / spread


def _apart(own: Tensor, taught: Tensor, real: Tensor) -> Tensor:
    """The square of the distance beside that of what was taught."""
    own, taught = own.float() * real, taught.float() * real
    return ((own - taught) ** 2).sum() / (taught**2).sum()


class Learning:
    """One student from its beginning to its end."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.manual_seed(args.seed)
        torch.set_float32_matmul_precision("high")
        with np.load(args.texts) as file:
            arrays = {name: file[name] for name in file.files}
        self.says = torch.from_numpy(arrays["says"]).to(self.device)
        exact = loaded(export.shipped(args.model)).to(self.device).eval()
        exact.requires_grad_(requires_grad=False)
        self.bank = Bank.of(exact, self._tools(arrays), self.says)
        self.kept_back = Flat.of(arrays, "kept_back", self.device)
        self.exact = exact
        self.batches = iter(QueryBatches(arrays, _shares(args.tools), args.tokens, self.device))
        self.student = student_of(exact, args.layers, args.inner, self._measured()[:1024])
        teacher = exact.half() if self.device == "cuda" else exact
        self.lessons = Lessons(teacher, self.student, self.bank, self.says)
        self.average = Average(self.student)
        learned = [each for each in self.student.parameters() if each.requires_grad]
        self.learner = torch.optim.AdamW(
            learned, lr=RATE, betas=(0.9, 0.98), weight_decay=0.01, fused=self.device == "cuda"
        )
        self.learned, self.step = learned, 0
        self.began = time.monotonic()

    def _tools(self, arrays: Mapping[str, NDArray[np.generic]]) -> Flat:
        """The tools of the bank: with their servers, and every other one again without."""
        some = Flat.of(arrays, "tools", self.device)
        every = Flat.of(arrays, "serverless", self.device)
        numbers = torch.cat([some.numbers, every.numbers])
        starts = torch.cat([some.starts, every.starts[::2] + len(some.numbers)])
        lengths = torch.cat([some.lengths, every.lengths[::2]])
        most = self.args.bank or len(starts)
        return Flat(numbers, starts[:most], lengths[:most])

    @property
    def done(self) -> float:
        """The share of the time that is behind us."""
        now, end = time.monotonic(), STARTED + self.args.seconds
        return min(1.0, (now - self.began) / max(1.0, end - self.began))

    def run(self) -> None:
        """Learn until the time is up; keep what there is halfway, too."""
        self.say(f"{len(self.bank.reading.vectors)} tools, ready to learn")
        said = measured = time.monotonic()
        halfway = False
        while self.done < 1:
            parts = self.learn()
            now = time.monotonic()
            if now - said > SAID_S:
                told = " ".join(f"{name} {value.item():.4f}" for name, value in parts.items())
                self.say(f"{self.step} {told}")
                said = now
            if now - measured > MEASURED_S:
                self.say(json.dumps(self.measure()))
                measured = time.monotonic()
            if not halfway and self.done > 0.5:
                halfway = True
                self.save()
        self.save()
        self.say(f"at the end {json.dumps(self.measure())}")

    def learn(self) -> dict[str, Tensor]:
        """One step; what was to be made small."""
        rise = min(1.0, (self.step + 1) / RISE)
        fall = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * self.done))
        for group in self.learner.param_groups:
            group["lr"] = self.args.rate * rise * fall
        parts = self.lessons(next(self.batches))
        hidden = max(0.0, 1 - self.done / HIDDEN_UNTIL)
        weights = {**WEIGHTS, "hidden": WEIGHTS["hidden"] * hidden}
        loss = torch.stack([weights[name] * part for name, part in parts.items()]).sum()
        self.learner.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.learned, 1.0)
        self.learner.step()
        self.step += 1
        self.average.add(self.student, self.step)
        return parts

    def _measured(self) -> Tensor:
        count = min(self.args.measured, len(self.kept_back.starts))
        return self.kept_back.padded(torch.arange(count, device=self.device), TOOL_WIDTH)

    @torch.no_grad()
    def measure(self) -> Mapping[str, float]:
        """How near the student is to the teacher on texts that were kept back."""
        numbers = self._measured()
        tools = self.bank.reading.vectors
        found: dict[str, list[Tensor]] = {}
        for some in numbers.split(1000):
            read = content(some, self.average.encoder.read(some), self.says)
            aim = content(some, self.exact.read(some), self.says)
            cosine = (read.vectors * aim.vectors).sum(-1)
            tokens = (read.tokens * aim.tokens).sum(-1)[aim.real]
            mine, theirs = (each.vectors @ tools.T for each in (read, aim))
            five, other = mine.topk(5).indices, theirs.topk(5).indices
            shared = (five[:, :, None] == other[:, None, :]).any(-1).float().mean(1)
            rows = {
                "cosine": cosine,
                "low": cosine.quantile(0.05)[None],
                "tokens": tokens,
                "first": (five[:, 0] == other[:, 0]).float(),
                "five": shared,
                "weights": (read.weights - aim.weights)[aim.real].abs(),
            }
            for name, values in rows.items():
                found.setdefault(name, []).append(values.float())
        return {name: round(torch.cat(values).mean().item(), 4) for name, values in found.items()}

    def save(self) -> None:
        """The mean of the last weights, without the pieces, which are the teacher's."""
        state = self.average.encoder.state_dict()
        arrays = {
            name: tensor.detach().half().cpu().numpy()
            for name, tensor in state.items()
            if name != "words.weight"
        }
        self.args.out.parent.mkdir(parents=True, exist_ok=True)
        half_done = self.args.out.with_name(f"{self.args.out.stem}.part.npz")
        np.savez(half_done, **arrays)
        half_done.replace(self.args.out)
        self.say(f"saved {self.args.out} after {self.step} steps")

    def say(self, text: str) -> None:
        since = time.monotonic() - STARTED
        print(f"{self.args.out.stem} {since:.0f} s {text}", flush=True)


def _shares(tools: float) -> Mapping[str, float]:
    return {**{k: (1 - tools) * share for k, share in QUERY_SHARES.items()}, TOOLS: tools}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.query_student", description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path, help="a file that ends in .npz")
    parser.add_argument("--layers", type=int, nargs="+", required=True, help="to begin with")
    parser.add_argument("--inner", type=int, default=INNER, help="units of a feed-forward net")
    parser.add_argument("--tools", type=float, default=0.0, help="the share of tools among texts")
    parser.add_argument("--seconds", type=float, required=True, help="from the start to the end")
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--tokens", type=int, default=40_000, help="about so many in a batch")
    parser.add_argument("--bank", type=int, help="at most so many tools to compare with")
    parser.add_argument("--measured", type=int, default=3_000, help="texts that are kept back")
    parser.add_argument("--seed", type=int, default=1)
    Learning(parser.parse_args()).run()


if __name__ == "__main__":
    main()
