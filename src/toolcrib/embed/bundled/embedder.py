"""Vectors from the model that comes with Toolcrib: nothing to install, download or configure."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.bundled.network import Floats, Network, Stored
from toolcrib.embed.bundled.onnx import OnnxNetwork
from toolcrib.embed.bundled.tokenizer import WordPieceTokenizer
from toolcrib.embed.protocol import embeddable

BUNDLED_MODEL = "toolcrib-2"
START = 1
"""The piece with which every text begins."""
SIZES = (384, 256, 128)
"""How many of the first numbers of a vector can stand alone."""
AT_ONCE = 2048
"""How many pieces, padding counted, go through the network at a time: more is slower."""
MOST_CHARACTERS = 2000


class BundledEmbedder:
    """The bundled model, read from the package when it is first asked. Thread-safe.

    English and Chinese, simplified and traditional; other languages as far as it has seen them.
    Only the beginning of a text is read, about a hundred words. It runs on onnxruntime where that
    is installed, else on numpy; the vectors are the same.
    """

    def __init__(self, dimensions: int | None = None) -> None:
        self._dimensions = dimensions or SIZES[0]
        self.model = f"{BUNDLED_MODEL} ({self._dimensions})"
        self._loading = Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As every embedder; a text without a word that the model knows is a row of zeros."""
        out = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        if not texts:
            return out
        tokenizer, network = self._model
        numbers = [
            tokenizer.numbers(t[:MOST_CHARACTERS], most=network.longest - 1)
            for t in map(embeddable, texts)
        ]
        for places in _batches([len(each) for each in numbers]):
            out[places] = self._shortened(network(_padded([numbers[place] for place in places])))
        return out

    @property
    def _model(self) -> tuple[WordPieceTokenizer, Network | OnnxNetwork]:
        with self._loading:
            return self._loaded

    @cached_property
    def _loaded(self) -> tuple[WordPieceTokenizer, Network | OnnxNetwork]:
        folder = files("toolcrib.embed.bundled") / "model"
        return load_tokenizer(folder), load_network(folder)

    def _shortened(self, rows: Floats) -> Floats:
        short = rows[:, : self._dimensions]
        return short / np.linalg.norm(short, axis=1, keepdims=True)


def load_tokenizer(folder: Traversable) -> WordPieceTokenizer:
    """The tokenizer of the model in a folder."""
    pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")[:-1]
    table = (folder / "simplified.txt").read_text(encoding="utf-8").split()
    return WordPieceTokenizer(pieces, {pair[0]: pair[1] for pair in table})


def load_network(folder: Traversable) -> Network | OnnxNetwork:
    """The network of the model in a folder, on the fastest that there is to run it."""
    weights = load_weights(folder)
    try:
        return OnnxNetwork((folder / "network.onnx").read_bytes(), weights)
    except ImportError:
        return Network(weights)


def load_weights(folder: Traversable) -> Stored:
    """The weights of the model in a folder, as they are stored."""
    with (folder / "weights.npz").open("rb") as file, np.load(file) as stored:
        return {name: stored[name] for name in stored.files}


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts of about one length, longest first; those without a piece in none."""
    order = sorted((n for n, length in enumerate(lengths) if length), key=lambda n: -lengths[n])
    while order:
        count = max(1, AT_ONCE // (lengths[order[0]] + 1))
        yield order[:count]
        order = order[count:]


def _padded(numbers: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    rows = np.zeros((len(numbers), 1 + max(map(len, numbers))), dtype=np.int64)
    rows[:, 0] = START
    for row, each in zip(rows, numbers, strict=True):
        row[1 : 1 + len(each)] = each
    return rows
