"""The weights of the bundled model, as they are stored: mapped, so that only what is used is read.

`weights.npz` has the network for tools, `query.npz` that for queries, and `words.npy` the pieces of
both. What is mapped belongs to the system: it is shared by all processes that have this model.

`readings.npz` has texts that search reads again and again, as the network for tools has read them
once and for all: for them nobody has to load it.
"""

from collections.abc import Mapping
from importlib.resources.abc import Traversable
from io import BytesIO
from pathlib import Path
from struct import unpack_from
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from toolcrib.embed.bundled.network import Stored
from toolcrib.embed.bundled.onnx import STEPS, WORDS
from toolcrib.embed.protocol import TextReading

QUERY_WEIGHTS = "query.npz"
READINGS = "readings.npz"
PARTS = TextReading._fields
LENGTHS = 26
"""Where the entry of an archive says how long its name and what follows that are, of 2 bytes each;
after them the name begins."""
LONGEST_HEAD = 256
"""In bytes: what stands before the numbers of a matrix."""


def load_weights(folder: Traversable) -> Stored:
    """The weights of the model in a folder."""
    return {**_arrays(folder / "weights.npz"), WORDS: _array(folder / "words.npy")}


def load_query_weights(folder: Traversable) -> Stored:
    """The same of the network for queries, which has the pieces of the model."""
    steps = _arrays(folder / "weights.npz", STEPS)[STEPS]
    layers = _arrays(folder / QUERY_WEIGHTS)
    return {**layers, STEPS: steps, WORDS: _array(folder / "words.npy")}


def load_readings(folder: Traversable) -> Mapping[str, TextReading]:
    """The texts that the model in a folder has read before, as the network for tools reads them."""
    stored = _arrays(folder / READINGS)
    texts = {name.rpartition(".")[0] for name in stored}
    return {text: _reading(*(stored[f"{text}.{part}"] for part in PARTS)) for text in texts}


def _array(file: Traversable) -> NDArray[np.generic]:
    """An array in a file; where the package lies in an archive there is no file to map."""
    if isinstance(file, Path):
        return np.load(file, mmap_mode="r")
    return np.load(BytesIO(file.read_bytes()))


def _arrays(file: Traversable, *names: str) -> Stored:
    """The arrays of these names in a file, or all of them."""
    if isinstance(file, Path):
        whole = np.memmap(file, np.uint8, mode="r").data
        with ZipFile(file) as archive:
            entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
        if all(entry.compress_type == ZIP_STORED for entry in entries.values()):
            return {name: _mapped(whole, entries[name]) for name in names or entries}
    with np.load(BytesIO(file.read_bytes())) as read:
        return {name: read[name] for name in names or read.files}


def _reading(
    vector: NDArray[np.generic], tokens: NDArray[np.generic], weights: NDArray[np.generic]
) -> TextReading:
    return TextReading(
        vector.astype(np.float32), tokens.astype(np.int8), weights.astype(np.float32)
    )


def _mapped(whole: memoryview, entry: ZipInfo) -> NDArray[np.generic]:
    """The array of an entry that is stored as it is."""
    lengths = unpack_from("<HH", whole, entry.header_offset + LENGTHS)
    start = entry.header_offset + LENGTHS + 4 + sum(lengths)
    head = BytesIO(whole[start : start + LONGEST_HEAD])
    npy.read_magic(head)
    shape, _, dtype = npy.read_array_header_1_0(head)
    return np.ndarray(shape, dtype, whole, start + head.tell())
