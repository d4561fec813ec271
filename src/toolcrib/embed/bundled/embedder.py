"""Vectors from the model that comes with Toolcrib: nothing to install, download or configure."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import islice
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.bundled.network import Network, Pieces, Readings, unit
from toolcrib.embed.bundled.onnx import OnnxNetwork
from toolcrib.embed.bundled.tokenizer import WordPieceTokenizer
from toolcrib.embed.bundled.weights import load_query_weights, load_readings, load_weights
from toolcrib.embed.protocol import TOKEN_STEPS, TOKEN_WIDTH, TextReading, embeddable

BUNDLED_MODEL = "toolcrib-4"
START = 1
"""The piece with which every text begins."""
SIZES = (384, 256, 128)
"""How many of the first numbers of a vector can stand alone."""
AT_ONCE = 600
"""About how many pieces go through the network at a time: more is slower."""
MOST_CHARACTERS = 2000
MOST_PIECES = 79
"""So many pieces of a query are read: the model was trained on as many."""
TOOL_PIECES = 48
"""So many of a tool. Each takes as long as any other, and the later ones are seldom asked for."""
MOST_TOKENS = 64
"""So many tokens of a text are told apart."""
TRIED = 1_000
"""After so many texts onnxruntime is worth its start, a fifth of a second and 90 MB of memory."""


class BundledEmbedder:
    """The bundled model, read from the package when it is first asked. Thread-safe.

    English and Chinese, simplified and traditional; other languages as far as it has seen them.
    Only the beginning of a text is read, of a tool some forty words. Tools are read by a network
    that begins on numpy; where onnxruntime is installed, a process that reads many texts goes on
    there, to the same vectors. Queries are read by a smaller one, which was taught to put them
    where the other would; `closely` by that of the tools.
    """

    def __init__(self, dimensions: int | None = None) -> None:
        self._dimensions = dimensions or SIZES[0]
        self.model = f"{BUNDLED_MODEL} ({self._dimensions}, {TOOL_PIECES} pieces)"
        self._loading = Lock()
        self._done = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As every embedder; a text without a word that the model knows is a row of zeros."""
        rows = [reading.vector for reading in self.read(texts)]
        return np.stack(rows) if rows else np.zeros((0, self._dimensions), dtype=np.float32)

    def read(self, texts: Sequence[str]) -> list[TextReading]:
        """The vectors of the texts, and of their words."""
        return self._read_in_full(texts, TOOL_PIECES)

    def read_queries(self, texts: Sequence[str], *, closely: bool = False) -> list[TextReading]:
        """The same for queries."""
        if closely:
            return self._read_in_full(texts, MOST_PIECES)
        return self._read(texts, self._query_network(), MOST_PIECES) if texts else []

    def _read_in_full(self, texts: Sequence[str], most: int) -> list[TextReading]:
        """By the network for tools, unless all of them were read before."""
        if all(text in self._readings for text in texts):
            return [self._readings[text] for text in texts]
        return self._read(texts, self._tool_network(len(texts)), most)

    def _read(
        self, texts: Sequence[str], network: Network | OnnxNetwork, most: int
    ) -> list[TextReading]:
        with self._loading:
            tokenizer = self._tokenizer
        numbers = [
            tokenizer.numbers(text[:MOST_CHARACTERS], most=most) for text in map(embeddable, texts)
        ]
        found = [self._nothing] * len(texts)
        for places in _batches([len(each) for each in numbers]):
            batch = [[START, *numbers[place]] for place in places]
            readings = self._split(batch, network(batch), tokenizer)
            for place, reading in zip(places, readings, strict=True):
                found[place] = reading
        return found

    def _split(
        self, texts: Sequence[Pieces], made: Readings, tokenizer: WordPieceTokenizer
    ) -> Iterator[TextReading]:
        """What was read of several texts, text by text: of each the tokens that say something."""
        vectors, start = unit(made.vectors[:, : self._dimensions]), 0
        for vector, pieces in zip(vectors, texts, strict=True):
            says = (place for place, piece in enumerate(pieces) if place and tokenizer.says(piece))
            inside = [start + place for place in islice(says, MOST_TOKENS)]
            tokens = np.rint(made.tokens[inside] * TOKEN_STEPS).astype(np.int8)
            yield TextReading(vector, tokens, made.weights[inside])
            start += len(pieces)

    @cached_property
    def _nothing(self) -> TextReading:
        """The reading of a text without a word that the model knows."""
        return TextReading(
            np.zeros(self._dimensions, np.float32),
            np.zeros((0, TOKEN_WIDTH), np.int8),
            np.zeros(0, np.float32),
        )

    def _tool_network(self, more: int) -> Network | OnnxNetwork:
        """What reads so many more texts."""
        with self._loading:
            if self._done <= TRIED < self._done + more:
                self._network = many_texts_network(self._folder) or self._network
            self._done += more
            return self._network

    def _query_network(self) -> Network:
        with self._loading:
            return self._small_network

    @cached_property
    def _readings(self) -> Mapping[str, TextReading]:
        """What was read before this model was shipped, by text."""
        return {
            text: reading._replace(vector=unit(reading.vector[: self._dimensions]))
            for text, reading in load_readings(self._folder).items()
        }

    @cached_property
    def _tokenizer(self) -> WordPieceTokenizer:
        return load_tokenizer(self._folder)

    @cached_property
    def _network(self) -> Network | OnnxNetwork:
        return Network(load_weights(self._folder))

    @cached_property
    def _small_network(self) -> Network:
        return Network(load_query_weights(self._folder))

    @property
    def _folder(self) -> Traversable:
        return files("toolcrib.embed.bundled") / "model"


def load_tokenizer(folder: Traversable) -> WordPieceTokenizer:
    """The tokenizer of the model in a folder."""
    pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")[:-1]
    table = (folder / "simplified.txt").read_text(encoding="utf-8").split()
    return WordPieceTokenizer(pieces, {pair[0]: pair[1] for pair in table})


def many_texts_network(folder: Traversable) -> OnnxNetwork | None:
    """The network of the model in a folder on onnxruntime; None where that is not installed."""
    try:
        return OnnxNetwork((folder / "network.onnx").read_bytes(), load_weights(folder))
    except ImportError:
        return None


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts of about one length, longest first; those without a piece in none."""
    order = sorted((n for n, length in enumerate(lengths) if length), key=lambda n: -lengths[n])
    while order:
        count = max(1, AT_ONCE // (lengths[order[0]] + 1))
        yield order[:count]
        order = order[count:]
