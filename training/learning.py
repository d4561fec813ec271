"""How a model learns: pace, optimizer, the loop; and what is kept of it."""

import copy
import math
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from training import export
from training.batches import autocast
from training.network import Encoder

HEADS = 10.0
"""How much faster the heads of the second look learn: they begin from nothing."""


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

    def told(self, loss: Tensor) -> str | None:
        """What to say of this step; None of most."""
        if self.step % 250 and self.step != 5:
            return None
        done = f"{self.step} ({self.done:.0%})"
        return f"{done} loss {loss.item():.3f} {self.milliseconds:.0f} ms a step"

    def rate(self) -> float:
        up = min(1.0, (self.step + 1) / self._rise)
        return self._rate * up * (0.03 + 0.97 * 0.5 * (1 + math.cos(math.pi * min(1, self.done))))


def optimizer(encoder: Encoder, wordy: float, after: int = 0) -> torch.optim.AdamW:
    """`wordy` is how much faster pieces learn; until the step `after` only the heads do."""
    words = [encoder.words.weight]
    heads = [*encoder.tokens.parameters(), *encoder.weigh.parameters()]
    known = {id(each) for each in (*words, *heads)}
    rest = [each for each in encoder.parameters() if id(each) not in known]
    groups = [
        {"params": words, "factor": wordy, "weight_decay": 0.0, "after": after},
        {"params": heads, "factor": HEADS, "weight_decay": 0.0},
        {"params": rest, "factor": 1.0, "weight_decay": 0.01, "after": after},
    ]
    return torch.optim.AdamW(groups, lr=1e-4, betas=(0.9, 0.98), fused=torch.cuda.is_available())


@torch.no_grad()
def mixed(before: Encoder, after: Encoder, share: float) -> Encoder:
    """Weights between those of two models."""
    between = copy.deepcopy(before)
    for own, other in zip(between.parameters(), after.parameters(), strict=True):
        own.lerp_(other, share)
    return between


def save(encoder: Encoder, out: Path, name: str) -> None:
    state = {
        key: tensor.detach().float().cpu().numpy() for key, tensor in encoder.state_dict().items()
    }
    export.store(state, out, name)


def learn(
    encoder: nn.Module,
    learner: torch.optim.Optimizer,
    pace: Pace,
    loss: Callable[[], Tensor],
    after: Callable[[Tensor], None],
) -> None:
    """Take steps until the pace says that it is done; `after` each, with its loss."""
    device = next(encoder.parameters()).device.type
    while pace.done < 1:
        for group in learner.param_groups:
            waits = pace.step < group.get("after", 0)
            group["lr"] = 0.0 if waits else pace.rate() * group["factor"]
        with autocast(device):
            value = loss()
        learner.zero_grad(set_to_none=True)
        value.backward()
        nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        learner.step()
        pace.step += 1
        after(value)


class Average:
    """The mean of a model's weights over the last steps."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = copy.deepcopy(encoder)

    @torch.no_grad()
    def add(self, encoder: Encoder, step: int) -> None:
        share = min(0.995, step / (step + 9))
        slow, fast = ([p.data for p in each.parameters()] for each in (self.encoder, encoder))
        torch._foreach_lerp_(slow, fast, 1 - share)
