"""The bundled network in numpy: an encoder of six layers, read twice.

The vector of a text is the mean of the last layer. For the second look each token has a vector of
its own, a short projection of that layer, and a weight that says how much it counts in a query.

Weights lie in the file with 8 bits a number and a step for every row. The layers are read into
32-bit matrices once, 42 MB; the pieces stay as they are and are read row by row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.blas import one_blas_thread

Floats = NDArray[np.float32]
Stored = Mapping[str, NDArray[np.generic]]

HEADS = 12
EPSILON = 1e-12
PADDING = 0
LINEAR = np.float32((2 / np.pi) ** 0.5)
CUBE = np.float32(0.044715) * LINEAR
BLOCK = 128
"""How many rows go through a feed-forward net at a time: what they swell to stays in the cache."""


class Readings(NamedTuple):
    """Texts as the network reads them: a row a text, and in it one a token.

    Vectors of texts and of tokens have length 1; `weights` are from 0 to 1. What stands in the
    places of padding means nothing.
    """

    vectors: Floats
    tokens: Floats
    weights: Floats


@dataclass(frozen=True, slots=True)
class Linear:
    """x · weight + bias, the weight laid out for that."""

    weight: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        y = x @ self.weight
        y += self.bias
        return y


@dataclass(frozen=True, slots=True)
class Norm:
    """Each row to mean 0 and variance 1, then stretched and shifted. Writes into what it gets."""

    weight: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        x -= x.mean(axis=-1, keepdims=True)
        spread = np.sqrt(np.einsum("...i,...i->...", x, x) / x.shape[-1] + EPSILON)
        x /= spread[..., None]
        x *= self.weight
        x += self.bias
        return x


@dataclass(frozen=True, slots=True)
class Layer:
    """Attention, then a feed-forward net, each added to its input."""

    qkv: Linear
    out: Linear
    norm1: Norm
    up: Linear
    down: Linear
    norm2: Norm

    def __call__(self, x: Floats, hidden: Floats | None) -> Floats:
        x = self.norm1(self.out(attention(self.qkv(x), hidden)) + x)
        return self.norm2(self._fed(x.reshape(-1, x.shape[-1])).reshape(x.shape) + x)

    def _fed(self, rows: Floats) -> Floats:
        blocks = range(0, len(rows), BLOCK)
        return np.concatenate([self.down(gelu(self.up(rows[n : n + BLOCK]))) for n in blocks])


class Network:
    """Rows of piece numbers, padded with 0, to what they say."""

    def __init__(self, stored: Stored) -> None:
        self._words = stored["words.weight"]
        self._steps = stored["words.weight.step"].astype(np.float32)
        self._positions = matrix(stored, "positions.weight")
        self._norm = _norm(stored, "norm")
        count = sum(name.endswith(".qkv.weight") for name in stored)
        self._layers = [_layer(stored, f"layers.{number}.") for number in range(count)]
        self._tokens = np.ascontiguousarray(matrix(stored, "tokens.weight").T)
        self._weigh = _linear(stored, "weigh")

    @property
    def longest(self) -> int:
        """How many pieces of a text are read at most."""
        return len(self._positions)

    def __call__(self, numbers: NDArray[np.int64]) -> Readings:
        """One row a text. Every text has at least one piece. Runs on the thread that asks."""
        with one_blas_thread():
            return self.by_threads_of_blas(numbers)

    def by_threads_of_blas(self, numbers: NDArray[np.int64]) -> Readings:
        """The same on as many threads as BLAS takes: to compare."""
        real = numbers != PADDING
        x = self._words[numbers].astype(np.float32) * self._steps[numbers][..., None]
        x = self._norm(x + self._positions[: numbers.shape[1]])
        hidden = (
            None if real.all() else np.where(real, 0, -1e9).astype(np.float32)[:, None, None, :]
        )
        for layer in self._layers:
            x = layer(x, hidden)
        mean = np.einsum("bld,bl->bd", x, real.astype(np.float32))
        weights: Floats = np.reciprocal(1 + np.exp(-self._weigh(x)[..., 0]))
        return Readings(_unit(mean), _unit(x @ self._tokens), weights)


def _unit(rows: Floats) -> Floats:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def attention(qkv: Floats, hidden: Floats | None) -> Floats:
    """Every head's mean of values, by how well its query fits the keys that are not hidden."""
    batch, length, width = qkv.shape
    size = width // (3 * HEADS)
    q, k, v = qkv.reshape(batch, length, 3, HEADS, size).transpose(2, 0, 3, 1, 4)
    scores = (q * np.float32(size**-0.5)) @ k.swapaxes(-1, -2)
    if hidden is not None:
        scores += hidden
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return (scores @ v).transpose(0, 2, 1, 3).reshape(batch, length, width // 3)


def gelu(x: Floats) -> Floats:
    """X · Φ(x) by its usual approximation with tanh. Writes into what it gets."""
    inner = x * x
    inner *= CUBE
    inner += LINEAR
    inner *= x
    np.tanh(inner, out=inner)
    inner += 1
    x *= np.float32(0.5)
    x *= inner
    return x


def matrix(stored: Stored, name: str) -> Floats:
    """A stored matrix in full."""
    return stored[name].astype(np.float32) * stored[f"{name}.step"].astype(np.float32)[:, None]


def _linear(stored: Stored, name: str) -> Linear:
    weight = np.ascontiguousarray(matrix(stored, f"{name}.weight").T)
    return Linear(weight, stored[f"{name}.bias"].astype(np.float32))


def _norm(stored: Stored, name: str) -> Norm:
    return Norm(
        stored[f"{name}.weight"].astype(np.float32), stored[f"{name}.bias"].astype(np.float32)
    )


def _layer(stored: Stored, at: str) -> Layer:
    return Layer(
        qkv=_linear(stored, f"{at}qkv"),
        out=_linear(stored, f"{at}out"),
        norm1=_norm(stored, f"{at}norm1"),
        up=_linear(stored, f"{at}up"),
        down=_linear(stored, f"{at}down"),
        norm2=_norm(stored, f"{at}norm2"),
    )
