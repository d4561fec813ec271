"""The network, in PyTorch: a BERT encoder whose answer is the mean of its last layer."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from toolcrib.embed.protocol import TOKEN_WIDTH

WIDTH, HEADS, INNER, EPS = 384, 12, 1536, 1e-12
POSITIONS = 128


class Layer(nn.Module):
    """Attention and a feed-forward net, each added to its input and normalised."""

    def __init__(self, inner: int = INNER) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, EPS)
        self.up = nn.Linear(WIDTH, inner)
        self.down = nn.Linear(inner, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, EPS)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, _ = x.shape
        heads = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(heads[0], heads[1], heads[2], attn_mask=mask)
        x = self.norm1(x + self.out(seen.transpose(1, 2).reshape(batch, length, WIDTH)))
        return self.norm2(x + self.down(functional.gelu(self.up(x))))


class Reading(NamedTuple):
    """Some texts, read: a vector of each text, one of each of its tokens, and their weights.

    `real` is False for padding and for the piece that every text begins with. The weight of a
    token says how much it counts in a query.
    """

    vectors: Tensor
    tokens: Tensor
    weights: Tensor
    real: Tensor

    def at(self, rows: slice | Tensor) -> "Reading":
        """Some of the texts."""
        return Reading(*(each[rows] for each in self))


class Encoder(nn.Module):
    """Piece numbers to vectors of length 1; 0 is padding. Without layers: a mean of pieces.

    `read` gives the vectors of tokens too, for the second look.
    """

    def __init__(self, pieces: int, positions: int, layers: int, inner: int = INNER) -> None:
        super().__init__()
        self.words = nn.Embedding(pieces, WIDTH)
        self.positions = nn.Embedding(positions, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPS)
        self.layers = nn.ModuleList(Layer(inner) for _ in range(layers))
        self.tokens = nn.Linear(WIDTH, TOKEN_WIDTH, bias=False)
        self.weigh = nn.Linear(WIDTH, 1)
        nn.init.orthogonal_(self.tokens.weight, generator=torch.Generator().manual_seed(1))
        nn.init.zeros_(self.weigh.weight)
        nn.init.zeros_(self.weigh.bias)

    def forward(self, numbers: Tensor) -> Tensor:
        return _mean(self.states(numbers)[-1], numbers > 0)

    def read(self, numbers: Tensor) -> Reading:
        """The vectors of texts and of their tokens."""
        return self.reading(self.states(numbers)[-1], numbers)

    def reading(self, x: Tensor, numbers: Tensor) -> Reading:
        """The same, from the state of the last layer."""
        real = numbers > 0
        tokens = functional.normalize(self.tokens(x).float(), dim=-1)
        weights = self.weigh(x).float().squeeze(-1).sigmoid()
        inner = real.clone()
        inner[:, 0] = False
        return Reading(_mean(x, real), tokens, weights * inner, inner)

    def states(self, numbers: Tensor) -> list[Tensor]:
        """What every layer makes of the pieces, the last one last; without layers the pieces."""
        x = self.words(numbers)
        if not len(self.layers):
            return [x]
        x = self.norm(x + self.positions.weight[: numbers.shape[1]])
        mask = (numbers > 0)[:, None, None, :]
        found: list[Tensor] = []
        for layer in self.layers:
            x = layer(x, mask)
            found.append(x)
        return found


def _mean(x: Tensor, real: Tensor) -> Tensor:
    share = real.unsqueeze(-1).to(x.dtype)
    return functional.normalize((x * share).sum(1).float() / share.sum(1).float(), dim=-1)


def loaded(arrays: Mapping[str, NDArray[np.float32]]) -> Encoder:
    """An encoder with these weights, as large as they are; what they lack begins anew."""
    layers = sum(name.endswith("qkv.weight") for name in arrays)
    inner = len(arrays["layers.0.up.weight"]) if layers else INNER
    encoder = Encoder(len(arrays["words.weight"]), len(arrays["positions.weight"]), layers, inner)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    encoder.load_state_dict(encoder.state_dict() | tensors)
    return encoder
