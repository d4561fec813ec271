"""The teacher's weights, out of a BERT checkpoint: named as ours, rounded to what travels."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

Arrays = Mapping[str, NDArray[np.generic]]
LAYERS = 6
PARTS = {
    "out": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm2": "output.LayerNorm",
}
"""The parts of a layer, and what BERT calls them."""


def carry(folder: Path, out: Path) -> None:
    """Its weights, 8 bits a number of a piece and 16 bits the rest; and its vocabulary."""
    model = next(folder.rglob("model.safetensors"))
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, array in from_bert(load_file(model)).items():
        if name == "words":
            arrays["words.scale"], arrays["words"] = _rounded(array)
        else:
            arrays[name] = array.astype(np.float16)
    np.savez(out / "teacher.npz", **arrays)
    (out / "teacher_vocab.txt").write_bytes((model.parent / "vocab.txt").read_bytes())


def from_bert(bert: Arrays) -> dict[str, NDArray[np.generic]]:
    """The arrays of a BERT checkpoint under the names of `network.py`."""
    found = {
        "words": bert["embeddings.word_embeddings.weight"],
        "positions": bert["embeddings.position_embeddings.weight"]
        + bert["embeddings.token_type_embeddings.weight"][0],
        "norm.weight": bert["embeddings.LayerNorm.weight"],
        "norm.bias": bert["embeddings.LayerNorm.bias"],
    }
    for number in range(LAYERS):
        old, new = f"encoder.layer.{number}.", f"layers.{number}."
        for kind in ("weight", "bias"):
            parts = [bert[f"{old}attention.self.{x}.{kind}"] for x in ("query", "key", "value")]
            found[f"{new}qkv.{kind}"] = np.concatenate(parts)
            for part, name in PARTS.items():
                found[f"{new}{part}.{kind}"] = bert[f"{old}{name}.{kind}"]
    return found


def _rounded(rows: NDArray[np.generic]) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    scale = np.abs(rows).max(axis=1, keepdims=True) / 127
    return scale.astype(np.float32), np.round(rows / scale).astype(np.int8)
