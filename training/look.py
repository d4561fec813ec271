"""The second look while it is trained: what it reads of a document, and how well it orders."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from toolcrib.embed.bundled.embedder import MOST_TOKENS
from toolcrib.embed.protocol import TOKEN_WIDTH
from training.batches import autocast
from training.losses import late_each
from training.measure import TOP, DevSet, ranked, recall
from training.network import WIDTH, Encoder, Reading

FIRST = 0.7
"""How much the first order counts beside the second look, both in standard deviations."""
ANSWERED = 0.97
BATCH = 1024
MOST_QUERIES = 800


def content(numbers: Tensor, read: Reading, says: Tensor) -> Reading:
    """A text as the second look has it: the first tokens of it that say something."""
    inside = read.real & says[numbers.long()]
    real = inside & (inside.cumsum(1) <= MOST_TOKENS)
    return read._replace(real=real, weights=read.weights * real)


@torch.no_grad()
def looked_at(
    encoder: Encoder, sets: Sequence[DevSet], says: Tensor
) -> Mapping[str, Mapping[str, float]]:
    """Recall of every set by vectors alone and after a second look at the first; in per cent."""
    return {each.name: _looked_at(encoder.eval(), each, says) for each in sets}


def _looked_at(encoder: Encoder, dev: DevSet, says: Tensor) -> Mapping[str, float]:
    tools = content(dev.tools, _read(encoder, dev.tools), says)
    asked = dev.queries[:MOST_QUERIES]
    queries = content(asked, _read(encoder, asked), says)
    first, second, places = _scored(queries, tools, None)
    scores = {"first": first, "look": second, "both": _standard(second) + FIRST * _standard(first)}
    found: dict[str, list[float]] = {}
    for name, each in scores.items():
        order = places.gather(1, each.argsort(1, descending=True)).tolist()
        for row, query in zip(order, dev.asked, strict=False):
            ids = ranked([dev.ids[place] for place in row], query)
            for most in (1, 5):
                found.setdefault(f"{name}@{most}", []).append(recall(ids[:most], query))
            if dev.name == "everyday":
                found.setdefault(f"{name}@5 {query['split']}", []).append(recall(ids[:5], query))
    table = {name: round(100 * float(np.mean(rows)), 1) for name, rows in found.items()}
    return table | _empty(encoder, dev, tools, second.amax(1), says)


def _scored(
    queries: Reading, tools: Reading, among: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The cosines of the nearest tools of each query, their second looks, and where they are."""
    cosines = queries.vectors @ tools.vectors.T
    near = (cosines if among is None else cosines.masked_fill(~among, -1)).topk(
        min(TOP, len(tools.vectors))
    )
    looks = [
        late_each(queries.at(slice(n, n + 64)), tools.at(near.indices[n : n + 64]))
        for n in range(0, len(cosines), 64)
    ]
    return near.values, torch.cat(looks).masked_fill(near.values <= -1, -1), near.indices


def _standard(scores: Tensor) -> Tensor:
    return (scores - scores.mean(1, keepdim=True)) / (scores.std(1, keepdim=True) + 1e-6)


def _empty(
    encoder: Encoder, dev: DevSet, tools: Reading, best: Tensor, says: Tensor
) -> Mapping[str, float]:
    """How many queries without an answer get none, where 97 % of the others get one."""
    if dev.unfit is None:
        return {}
    rows = dev.unfit.queries[:MOST_QUERIES]
    unfit = content(rows, _read(encoder, rows), says)
    _, looks, _ = _scored(unfit, tools, dev.unfit.among[:MOST_QUERIES])
    bound = torch.quantile(best, 1 - ANSWERED)
    return {"left empty": round(100 * (looks.amax(1) < bound).float().mean().item(), 1)}


def _read(encoder: Encoder, rows: Tensor) -> Reading:
    """All texts at once, those of one length together."""
    count, width, device = len(rows), rows.shape[1], rows.device
    out = Reading(
        torch.zeros(count, WIDTH, device=device),
        torch.zeros(count, width, TOKEN_WIDTH, dtype=torch.float16, device=device),
        torch.zeros(count, width, device=device),
        torch.zeros(count, width, dtype=torch.bool, device=device),
    )
    lengths = (rows > 0).sum(1)
    for some in lengths.argsort().split(BATCH):
        longest = max(1, int(lengths[some].max()))
        with autocast(device.type):
            read = encoder.read(rows[some, :longest])
        out.vectors[some] = read.vectors.float()
        out.tokens[some, :longest] = read.tokens.half()
        out.weights[some, :longest] = read.weights.float()
        out.real[some, :longest] = read.real
    return out
