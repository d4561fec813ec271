"""The bundled network in numpy: an encoder of a few layers, read twice.

The vector of a text is the mean of the last layer. For the second look each token has a vector of
its own, a short projection of that layer, and a weight that says how much it counts in a query.

Texts lie one behind the other, a row a piece, without padding: only attention keeps them apart.
Weights have 8 bits a number and a step for every row, and stay so. Of the pieces the rows are read
that a text has; of a layer some rows at a time are written out, just before they are multiplied.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.blas import one_blas_thread

Floats = NDArray[np.float32]
Stored = Mapping[str, NDArray[np.generic]]
Pieces = Sequence[int]
"""The numbers of the pieces of a text; at least one."""

HEADS = 12
EPSILON = 1e-12
LINEAR = np.float32((2 / np.pi) ** 0.5)
CUBE = np.float32(0.044715) * LINEAR
ROOM = 2 * 384 * 384
"""So many numbers of a weight are written out at a time: they stay in the cache of a core."""
ROWS, SCORES = 64, 128 * 1024
"""So many rows at a time for `gelu`, and about so many scores for attention.

What is made for them stays in the cache too, and the system is not asked for new memory each time.
"""


class Readings(NamedTuple):
    """Texts as the network reads them: a vector each, and for all their pieces a row in order.

    Vectors of texts and of tokens have length 1; `weights` are from 0 to 1.
    """

    vectors: Floats
    tokens: Floats
    weights: Floats


@dataclass(frozen=True, slots=True)
class Linear:
    """x · weight + bias; of the weight each row has a step, which its numbers are counted in."""

    weight: NDArray[np.int8]
    steps: Floats
    bias: Floats

    def __call__(self, x: Floats, room: Floats) -> Floats:
        """`room` is where weights are written out: a row of the weight has to fit."""
        to, of = self.weight.shape
        out = np.empty((len(x), to), np.float32)
        count = len(room) // of
        for start in range(0, to, count):
            part = self.weight[start : start + count]
            written = room[: part.size].reshape(part.shape)
            written[...] = part
            np.matmul(x, written.T, out=out[:, start : start + count])
        out *= self.steps
        out += self.bias
        return out


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

    def __call__(self, x: Floats, lengths: Sequence[int], room: Floats) -> Floats:
        seen = self.out(attention(self.qkv(x, room), lengths), room)
        seen += x
        x = self.norm1(seen)
        fed = self.down(gelu(self.up(x, room)), room)
        fed += x
        return self.norm2(fed)


class Embedding:
    """The pieces: 8 bits a number in the file, in full when they are asked for."""

    def __init__(self, stored: Stored) -> None:
        self._words = stored["words.weight"]
        self._steps = stored["words.weight.step"]
        self._positions = matrix(stored, "positions.weight")

    def __call__(self, texts: Sequence[Pieces]) -> Floats:
        """A row for every piece of the texts, with its place in its text."""
        numbers = np.concatenate([np.asarray(text) for text in texts])
        rows = self._words[numbers].astype(np.float32)
        rows *= self._steps[numbers].astype(np.float32)[:, None]
        rows += np.concatenate([self._positions[: len(text)] for text in texts])
        return rows


class Network:
    """The pieces of texts to what they say. Texts of one length belong together."""

    def __init__(self, stored: Stored) -> None:
        self._embedding = Embedding(stored)
        self._norm = _norm(stored, "norm")
        count = sum(name.endswith(".qkv.weight") for name in stored)
        self._layers = [_layer(stored, f"layers.{number}.") for number in range(count)]
        heads = np.concatenate([matrix(stored, f"{name}.weight") for name in ("tokens", "weigh")])
        self._heads = np.ascontiguousarray(heads.T)
        self._bias = stored["weigh.bias"].astype(np.float32)

    def __call__(self, texts: Sequence[Pieces]) -> Readings:
        """A reading for each text. Runs on the thread that asks."""
        with one_blas_thread():
            return self.by_threads_of_blas(texts)

    def by_threads_of_blas(self, texts: Sequence[Pieces]) -> Readings:
        """The same on as many threads as BLAS takes: to compare."""
        lengths = [len(text) for text in texts]
        x = self._norm(self._embedding(texts))
        room = np.empty(ROOM, np.float32)
        for layer in self._layers:
            x = layer(x, lengths, room)
        total = np.add.reduceat(x, np.cumsum([0, *lengths[:-1]]))
        heads = x @ self._heads
        weights: Floats = np.reciprocal(1 + np.exp(-heads[:, -1] - self._bias))
        return Readings(unit(total), unit(heads[:, :-1]), weights)


def unit(rows: Floats) -> Floats:
    """Each row at length 1."""
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def attention(qkv: Floats, lengths: Sequence[int]) -> Floats:
    """Every head's mean of values within each text, by how well its query fits the keys."""
    seen = np.empty((len(qkv), qkv.shape[1] // 3), np.float32)
    for start, count, length in _runs(lengths):
        rows = slice(start, start + count * length)
        seen[rows] = _attention(qkv[rows].reshape(count, length, -1)).reshape(count * length, -1)
    return seen


def _runs(lengths: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Where each run of texts of one length begins, how many they are, and that length.

    Texts of one length are several runs if they have too many scores for one.
    """
    start = 0
    for length, same in groupby(lengths):
        texts, most = len(list(same)), max(1, SCORES // (HEADS * length * length))
        for done in range(0, texts, most):
            count = min(most, texts - done)
            yield start, count, length
            start += count * length


def _attention(qkv: Floats) -> Floats:
    """Of texts of one length."""
    batch, length, width = qkv.shape
    q, k, v = qkv.reshape(batch, length, 3, HEADS, width // (3 * HEADS)).transpose(2, 0, 3, 1, 4)
    scores = q @ k.swapaxes(-1, -2)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return (scores @ v).transpose(0, 2, 1, 3).reshape(batch, length, width // 3)


def gelu(x: Floats) -> Floats:
    """X · Φ(x) by its usual approximation with tanh. Writes into what it gets."""
    for start in range(0, len(x), ROWS):
        some = x[start : start + ROWS]
        inner = some * some
        inner *= CUBE
        inner += LINEAR
        inner *= some
        np.tanh(inner, out=inner)
        inner += 1
        some *= np.float32(0.5)
        some *= inner
    return x


def matrix(stored: Stored, name: str) -> Floats:
    """A stored matrix in full."""
    return stored[name].astype(np.float32) * stored[f"{name}.step"].astype(np.float32)[:, None]


def _linear(stored: Stored, name: str) -> Linear:
    return Linear(
        stored[f"{name}.weight"].view(np.int8),
        stored[f"{name}.weight.step"].astype(np.float32),
        stored[f"{name}.bias"].astype(np.float32),
    )


def _scaled(stored: Stored, name: str) -> Linear:
    """Queries, keys and values, the queries divided by the root of their size beforehand."""
    linear = _linear(stored, name)
    width = len(linear.bias) // 3
    for each in (linear.steps, linear.bias):
        each[:width] *= (width // HEADS) ** -0.5
    return linear


def _norm(stored: Stored, name: str) -> Norm:
    return Norm(
        stored[f"{name}.weight"].astype(np.float32), stored[f"{name}.bias"].astype(np.float32)
    )


def _layer(stored: Stored, at: str) -> Layer:
    return Layer(
        qkv=_scaled(stored, f"{at}qkv"),
        out=_linear(stored, f"{at}out"),
        norm1=_norm(stored, f"{at}norm1"),
        up=_linear(stored, f"{at}up"),
        down=_linear(stored, f"{at}down"),
        norm2=_norm(stored, f"{at}norm2"),
    )
