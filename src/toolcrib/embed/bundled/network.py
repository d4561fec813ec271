"""The bundled network in numpy: an encoder of a few layers, read twice.

The vector of a text is the mean of the last layer. For the second look each token has a vector of
its own, a short projection of that layer, and a weight that says how much it counts in a query.

Texts lie one behind the other, a row a piece, without padding: only attention keeps them apart.
Weights lie in the file with 8 bits a number and a step for every row. The layers are read into
32-bit matrices once; the pieces stay in the file, mapped, and are read row by row.
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
SLAB, DEPTH, FEW = 64, 384, 40
"""Products of `FEW` rows with a slab of weights, `DEPTH` rows of `SLAB` numbers.

OpenBLAS copies a matrix before it multiplies with it, which takes longer than a product of few rows
does, unless the product is small: below a million multiplications it takes the matrix as it lies.
"""
MANY = 6 * FEW
"""From so many rows on the copy pays, and slabs are put together for it."""


class Readings(NamedTuple):
    """Texts as the network reads them: a vector each, and for all their pieces a row in order.

    Vectors of texts and of tokens have length 1; `weights` are from 0 to 1.
    """

    vectors: Floats
    tokens: Floats
    weights: Floats


class Linear:
    """x · weight + bias, the weight laid out in slabs."""

    def __init__(self, slabs: Floats, bias: Floats) -> None:
        parts, count, depth, width = slabs.shape
        self._of, self._to = parts * depth, count * width
        self._bias = bias
        self._slabs = slabs

    def __call__(self, x: Floats) -> Floats:
        out = np.empty((len(x), self._to), np.float32)
        if len(x) >= MANY:
            whole = self._slabs.transpose(0, 2, 1, 3).reshape(self._of, self._to)
            np.matmul(x, whole, out=out)
        else:
            for start in range(0, len(x), FEW):
                self._multiply(x[start : start + FEW], out[start : start + FEW])
        out += self._bias
        return out

    def _multiply(self, x: Floats, out: Floats) -> None:
        parts, slabs, depth, slab = self._slabs.shape
        if parts == 1:
            np.matmul(x, self._slabs[0], out=_columns(out, slabs, slab))
            return
        halves = np.empty((parts, *out.shape), np.float32)
        deep = x.reshape(len(x), parts, 1, depth).transpose(1, 2, 0, 3)
        np.matmul(deep, self._slabs, out=_columns(halves, slabs, slab))
        np.add.reduce(halves, axis=0, out=out)


def slabs_of(stored: Stored, name: str) -> Floats:
    """A stored matrix cut along both sides: parts, slabs, depth, width; whole where it cannot be.

    It has a row for each number that goes out. It is cut while its numbers have 8 bits: to move
    them in full takes four times as long.
    """
    weight, steps = stored[name], stored[f"{name}.step"].astype(np.float32)
    to, of = weight.shape
    depth = DEPTH if of % DEPTH == 0 else of
    slab = SLAB if to % SLAB == 0 else to
    cut = weight.T.reshape(of // depth, depth, to // slab, slab).transpose(0, 2, 1, 3)
    slabs = np.ascontiguousarray(cut).astype(np.float32)
    slabs *= steps.reshape(1, to // slab, 1, slab)
    return slabs


def _columns(rows: Floats, slabs: int, slab: int) -> Floats:
    """The columns of rows, some at a time: a view."""
    return rows.reshape(*rows.shape[:-1], slabs, slab).swapaxes(-3, -2)


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

    def __call__(self, x: Floats, lengths: Sequence[int]) -> Floats:
        seen = self.out(attention(self.qkv(x), lengths))
        seen += x
        x = self.norm1(seen)
        fed = self.down(gelu(self.up(x)))
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
        for layer in self._layers:
            x = layer(x, lengths)
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
    """Where each run of texts of one length begins, how many they are, and that length."""
    start = 0
    for length, same in groupby(lengths):
        count = len(list(same))
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
    return Linear(slabs_of(stored, f"{name}.weight"), stored[f"{name}.bias"].astype(np.float32))


def _scaled(stored: Stored, name: str) -> Linear:
    """Queries, keys and values, the queries divided by the root of their size beforehand."""
    slabs = slabs_of(stored, f"{name}.weight")
    bias = stored[f"{name}.bias"].astype(np.float32)
    width = len(bias) // 3
    scales = np.ones((slabs.shape[1], slabs.shape[3]), np.float32)
    scales.reshape(-1)[:width] = (width // HEADS) ** -0.5
    slabs *= scales[:, None]
    bias *= scales.reshape(-1)
    return Linear(slabs, bias)


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
