"""A trained model as the files that the package ships.

pieces.txt      the vocabulary, one piece a line
simplified.txt  traditional characters, each followed by its simplified form
words.npy       the vectors of the pieces, 8 bits a number: a file of its own, to be mapped
weights.npz     the rest: 8 bits a number, and the size of a step for every row; some in 16 bits
query.npz       the network for queries, the same way; it has the pieces of the model

    python -m training.export MODEL OUT

goes back: the shipped model in the folder MODEL as one that training can start from.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.bundled.network import Stored, matrix
from toolcrib.embed.bundled.weights import QUERY_WEIGHTS, load_query_weights, load_weights
from training.tensors import lines

Floats = NDArray[np.float32]


def trained(folder: Path, name: str) -> dict[str, Floats]:
    """The parts that training saved, put together."""
    words = [np.load(folder / f"{name}-words-{part}.npy") for part in (0, 1)]
    arrays = {"words.weight": np.concatenate(words)}
    for part in ("early", "late"):
        with np.load(folder / f"{name}-{part}.npz") as file:
            arrays |= {key: file[key] for key in file.files}
    return {key: array.astype(np.float32) for key, array in arrays.items()}


def store(arrays: Mapping[str, NDArray[np.floating]], out: Path, name: str) -> None:
    """Save a trained model in parts of less than 16 MiB each, 16 bits a number."""
    out.mkdir(parents=True, exist_ok=True)
    halves = {key: array.astype(np.float16) for key, array in arrays.items()}
    words = halves.pop("words.weight")
    for part, rows in enumerate(np.array_split(words, 2)):
        np.save(out / f"{name}-words-{part}.npy", rows)
    early = {key: halves[key] for key in halves if key.split(".")[1] in {"0", "1", "2"}}
    np.savez(out / f"{name}-early.npz", **early)
    np.savez(out / f"{name}-late.npz", **{k: a for k, a in halves.items() if k not in early})


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


def export(arrays: Mapping[str, Floats], bundle: Path, out: Path) -> None:
    """Write the files of the model; a student of the one before goes, which would not fit."""
    out.mkdir(parents=True, exist_ok=True)
    (out / QUERY_WEIGHTS).unlink(missing_ok=True)
    written = rounded_all(arrays)
    np.save(out / "words.npy", written.pop("words.weight"))
    np.savez(out / "weights.npz", **written)
    pieces = [row[0] for row in lines(bundle / "pieces.txt")]
    (out / "pieces.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    pairs = ["".join(row) for row in lines(bundle / "simplified.tsv")]
    (out / "simplified.txt").write_text("\n".join(pairs) + "\n", encoding="utf-8")


def carry(model: Path, bundle: Path) -> None:
    """The pieces and characters of a shipped model, as a bundle has them."""
    bundle.mkdir(parents=True, exist_ok=True)
    (bundle / "pieces.txt").write_bytes((model / "pieces.txt").read_bytes())
    pairs = (model / "simplified.txt").read_text(encoding="utf-8").split()
    table = "".join(f"{old}\t{new}\n" for old, new in pairs)
    (bundle / "simplified.tsv").write_text(table, encoding="utf-8")


if __name__ == "__main__":
    store(shipped(Path(sys.argv[1])), Path(sys.argv[2]), "model")
