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
from toolcrib.embed.bundled.tokenizer import WordPieceTokenizer, says_something
from toolcrib.embed.protocol import TOKEN_STEPS, TOKEN_WIDTH, TextReading, embeddable

BUNDLED_MODEL = "toolcrib-3"
START = 1
"""The piece with which every text begins."""
SIZES = (384, 256, 128)
"""How many of the first numbers of a vector can stand alone."""
AT_ONCE = 2048
"""How many pieces, padding counted, go through the network at a time: more is slower."""
MOST_CHARACTERS = 2000
MOST_PIECES = 79
"""So many pieces of a text are read: the model was trained on as many."""
MOST_TOKENS = 64
"""So many tokens of a text are told apart."""


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
        rows = [reading.vector for reading in self.read(texts)]
        return np.stack(rows) if rows else np.zeros((0, self._dimensions), dtype=np.float32)

    def read(self, texts: Sequence[str]) -> list[TextReading]:
        """The vectors of the texts, and of their words."""
        if not texts:
            return []
        tokenizer, network = self._model
        numbers = [
            tokenizer.numbers(text[:MOST_CHARACTERS], most=MOST_PIECES)
            for text in map(embeddable, texts)
        ]
        found = [self._nothing] * len(texts)
        for places in _batches([len(each) for each in numbers]):
            batch = [numbers[place] for place in places]
            for place, reading in zip(places, self._read(batch, network), strict=True):
                found[place] = reading
        return found

    def _read(
        self, numbers: Sequence[Sequence[int]], network: Network | OnnxNetwork
    ) -> Iterator[TextReading]:
        made = network(_padded(numbers))
        vectors = self._shortened(made.vectors)
        for row, pieces in enumerate(numbers):
            [inside] = np.nonzero(self._says[np.array(pieces)])
            inside = inside[:MOST_TOKENS] + 1  # behind the piece that every text begins with
            tokens = np.rint(made.tokens[row, inside] * TOKEN_STEPS).astype(np.int8)
            yield TextReading(vectors[row], tokens, made.weights[row, inside])

    @cached_property
    def _nothing(self) -> TextReading:
        """The reading of a text without a word that the model knows."""
        return TextReading(
            np.zeros(self._dimensions, np.float32),
            np.zeros((0, TOKEN_WIDTH), np.int8),
            np.zeros(0, np.float32),
        )

    @cached_property
    def _says(self) -> NDArray[np.bool_]:
        """Which pieces say something, by their numbers."""
        return np.array([says_something(piece) for piece in self._model[0].pieces])

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
