"""A trained model as the files that the package ships, and back.

pieces.txt      the vocabulary, one piece a line
simplified.txt  traditional characters, each followed by its simplified form
words.npy       the vectors of the pieces, 8 bits a number: a file of its own, to be mapped
weights.npz     the network for tools: 8 bits a number, and the size of a step for every row
query.npz       the network for queries, the same way; it has the pieces of the model
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.bundled.network import Stored, matrix
from toolcrib.embed.bundled.weights import QUERY_WEIGHTS, load_query_weights, load_weights

Floats = NDArray[np.float32]
WORDS = "words.weight"
NETWORKS = ("tool", "query")
UNLEARNED = ("pieces.txt", "simplified.txt")
"""What a model keeps of the one that it began as."""


def trained(folder: Path, network: str) -> dict[str, Floats]:
    """The weights of a network that training saved."""
    with np.load(folder / f"{network}.npz") as file:
        return {name: file[name].astype(np.float32) for name in file.files}


def store(arrays: Mapping[str, Floats], folder: Path, network: str) -> None:
    """Save the weights of a network, 16 bits a number."""
    folder.mkdir(parents=True, exist_ok=True)
    halves = {name: array.astype(np.float16) for name, array in arrays.items()}
    np.savez(folder / f"{network}.npz", **halves)


def shipped(folder: Path) -> dict[str, Floats]:
    """The weights of a model that the package ships, in full."""
    return _in_full(load_weights(folder))


def shipped_query(folder: Path) -> dict[str, Floats]:
    """The same of its network for queries."""
    return _in_full(load_query_weights(folder))


def _in_full(arrays: Stored) -> dict[str, Floats]:
    return {
        name: matrix(arrays, name) if f"{name}.step" in arrays else array.astype(np.float32)
        for name, array in arrays.items()
        if not name.endswith(".step")
    }


def rounded(rows: Floats) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Each row in steps of its largest number over 127, and that step."""
    step = (np.abs(rows).max(axis=1) / 127).astype(np.float16)
    safe = np.where(step > 0, step, 1).astype(np.float32)
    return np.clip(np.round(rows / safe[:, None]), -127, 127).astype(np.int8), step


def rounded_all(arrays: Mapping[str, Floats]) -> dict[str, NDArray[np.generic]]:
    """Matrices rounded, with their steps; the rest in 16 bits."""
    written: dict[str, NDArray[np.generic]] = {}
    for name, array in arrays.items():
        if array.ndim == 2:
            written[name], written[f"{name}.step"] = rounded(array)
        else:
            written[name] = array.astype(np.float16)
    return written


def mixed(
    start: Mapping[str, Floats], others: Sequence[Mapping[str, Floats]], shares: Sequence[float]
) -> dict[str, Floats]:
    """The weights of several trainings, each by its share; the rest is of what they began as."""
    every, parts = (start, *others), (1 - sum(shares), *shares)
    pairs = [*zip(parts, every, strict=True)]
    return {name: sum(np.float32(part) * each[name] for part, each in pairs) for name in others[0]}


def export(tool: Mapping[str, Floats], query: Mapping[str, Floats], start: Path, out: Path) -> None:
    """Write the files of the model that began as the one in `start`."""
    out.mkdir(parents=True, exist_ok=True)
    for name in UNLEARNED:
        if start.resolve() != out.resolve():
            shutil.copyfile(start / name, out / name)
    written = rounded_all(tool)
    np.save(out / "words.npy", written.pop(WORDS))
    np.savez(out / "weights.npz", **written)
    layers = {name: array for name, array in query.items() if name != WORDS}
    np.savez(out / QUERY_WEIGHTS, **rounded_all(layers))
