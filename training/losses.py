"""What training makes small."""

import torch
from torch import Tensor, nn
from torch.nn import functional

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
    count = len(queries)
    right = torch.arange(count, device=queries.device)
    others = alike & ~torch.eye(count, len(documents), dtype=torch.bool, device=queries.device)
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


def fits(bound: Bound, queries: Tensor, documents: Tensor, alike: Tensor) -> Tensor:
    """Queries above the bound with their tools, below it without them.

    Documents are the right ones, then as many near ones.
    """
    count = len(queries)
    cosines = queries @ documents.T
    right, near = cosines[:, :count].diagonal(), cosines[:, count:].diagonal()
    return bound.above(right) + bound.below(_best(cosines, alike)) + 0.5 * bound.below(near)


def fits_not(
    bound: Bound, missed: tuple[Tensor, Tensor], none: Tensor, documents: Tensor
) -> Tensor:
    """Queries below the bound with tools that they only sound like; and those for no tool."""
    cosines = none @ documents.T
    best = _best(cosines, torch.zeros_like(cosines, dtype=torch.bool))
    return 0.5 * bound.below((missed[0] * missed[1]).sum(-1)) + bound.below(best)


def _best(cosines: Tensor, alike: Tensor) -> Tensor:
    """The nearest in a catalog drawn from the batch that has nothing right."""
    absent = torch.rand_like(cosines) > CATALOG / cosines.shape[1]
    return cosines.masked_fill(alike | absent, -1).amax(1)
