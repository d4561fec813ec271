"""What training makes small."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.network import Reading

SHORTER = (384, 256, 128)
CATALOG = 64
"""How many tools of a batch are a catalog without the right one, on average."""
TAU = 0.05


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


def contrast(queries: Tensor, documents: Tensor, alike: Tensor) -> Tensor:
    """How well each query tells its tool from the others of the batch, at every size."""
    losses = []
    for size in SHORTER:
        a = functional.normalize(queries[:, :size], dim=-1)
        b = functional.normalize(documents[:, :size], dim=-1)
        losses.append(tell_apart(a @ b.T, alike, TAU))
    return torch.stack(losses).mean()


def late(queries: Reading, documents: Reading) -> Tensor:
    """How well every query fits every document, word by word: a row a query, from -1 to 1.

    Each token of the query counts with its best match in the document, by its weight.
    """
    dots = torch.einsum("qik,djk->qdij", queries.tokens, documents.tokens)
    return _weighed(dots.masked_fill(~documents.real[None, :, None, :], -1), queries)


def late_each(queries: Reading, documents: Reading) -> Tensor:
    """The same for every query with documents of its own: these have one more dimension."""
    dots = torch.einsum("qik,qdjk->qdij", queries.tokens, documents.tokens)
    return _weighed(dots.masked_fill(~documents.real[:, :, None, :], -1), queries)


def _weighed(dots: Tensor, queries: Reading) -> Tensor:
    weights = queries.weights / queries.weights.sum(1, keepdim=True).clamp_min(1e-6)
    return torch.einsum("qdi,qi->qd", dots.amax(-1).float(), weights)


def tell_apart(scores: Tensor, alike: Tensor, tau: float) -> Tensor:
    """How well scores tell the right document of each query from the others of the batch."""
    count = len(scores)
    right = torch.arange(count, device=scores.device)
    others = alike & ~torch.eye(*scores.shape, dtype=torch.bool, device=scores.device)
    hidden = (scores / tau).masked_fill(others, -1e4)
    back = hidden[:, :count].T
    return functional.cross_entropy(hidden, right) + 0.3 * functional.cross_entropy(back, right)


def same_order(after: Tensor, before: Tensor) -> Tensor:
    """How far the cosines of queries with documents tell another order than they did."""
    kept = functional.log_softmax(before / TAU, dim=-1)
    return functional.kl_div(
        functional.log_softmax(after / TAU, dim=-1), kept, log_target=True, reduction="batchmean"
    )


class Bound(nn.Module):
    """One bound for all queries: what is nearer fits. It starts halfway, and is learned too."""

    def __init__(self) -> None:
        super().__init__()
        self.slope, self.base = nn.Parameter(torch.tensor(12.0)), nn.Parameter(torch.tensor(-6.0))

    def above(self, cosines: Tensor) -> Tensor:
        """How much these are not above it."""
        return functional.softplus(-self.slope * cosines - self.base).mean()

    def below(self, cosines: Tensor) -> Tensor:
        """How much these are not below it."""
        return functional.softplus(self.slope * cosines + self.base).mean()


def fits(bound: Bound, scores: Tensor, alike: Tensor) -> Tensor:
    """Queries above the bound with their tools, below it without them.

    Documents are the right ones, then near ones, as many for each query.
    """
    count = len(scores)
    return fits_near(bound, scores, scores[:, count : 2 * count].diagonal(), alike)


def fits_near(bound: Bound, scores: Tensor, near: Tensor, alike: Tensor) -> Tensor:
    """The same, with the score of a near document of each query beside it."""
    right = scores[:, : len(scores)].diagonal()
    return bound.above(right) + bound.below(_best(scores, alike)) + 0.5 * bound.below(near)


def fits_not(bound: Bound, missed: Tensor, none: Tensor) -> Tensor:
    """Queries below the bound with tools that they only sound like; and those for no tool."""
    best = _best(none, torch.zeros_like(none, dtype=torch.bool))
    return 0.5 * bound.below(missed) + bound.below(best)


def _best(scores: Tensor, alike: Tensor) -> Tensor:
    """The nearest in a catalog drawn from the batch that has nothing right."""
    absent = torch.rand_like(scores) > CATALOG / scores.shape[1]
    return scores.masked_fill(alike | absent, -1).amax(1)
