"""The bundled network on onnxruntime, an extra of Toolcrib: the same vectors, sooner.

`network.onnx` is the graph alone; the weights are those that numpy reads. The package is untyped at
this door, and imported when the model is first asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.bundled.network import Floats, Pieces, Readings, Stored, matrix

PACKAGE = "onnxruntime"
OLDEST = (1, 18)
"""The first that knows all that the graph is made of."""
OUTPUTS = ["vectors", "tokens", "weights"]
PADDING = 0
SHORTEST = 0.8
"""As part of the longest text that it is padded to: a shorter one is read with others."""
POSITIONS, WORDS, STEPS = "positions.weight", "words.weight", "words.weight.step"


class OnnxNetwork:
    """The pieces of texts to what they say, as `Network` does."""

    def __init__(self, graph: bytes, stored: Stored) -> None:
        """Raises `ImportError` where onnxruntime is not installed, or too old."""
        runtime: Any = import_module(PACKAGE)
        if tuple(map(int, runtime.__version__.split(".")[:2])) < OLDEST:
            raise ImportError(f"{PACKAGE} {runtime.__version__} is too old for the bundled model")
        weights = _weights(stored)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1  # as fast for a query, and a server has other work
        values = [runtime.OrtValue.ortvalue_from_numpy(each) for each in weights.values()]
        options.add_external_initializers(list(weights), values)
        providers = ["CPUExecutionProvider"]
        self._session = runtime.InferenceSession(graph, options, providers=providers)

    def __call__(self, texts: Sequence[Pieces]) -> Readings:
        """A reading for each text; the longest first, or there is more padding than needed."""
        parts = [self._read(some) for some in _of_like_length(texts)]
        return Readings(*map(np.concatenate, zip(*parts, strict=True)))

    def _read(self, texts: Sequence[Pieces]) -> Readings:
        numbers = _padded(texts)
        made = self._session.run(OUTPUTS, {"numbers": numbers})
        vectors, tokens, weights = cast("list[Floats]", made)
        real = numbers != PADDING
        return Readings(vectors, tokens[real], weights[real])


def _of_like_length(texts: Sequence[Pieces]) -> Iterator[Sequence[Pieces]]:
    """The texts in order, cut where one is much shorter than the first of its part, or longer."""
    start = 0
    for end in range(1, len(texts) + 1):
        longest = len(texts[start])
        if end == len(texts) or not SHORTEST * longest <= len(texts[end]) <= longest:
            yield texts[start:end]
            start = end


def _padded(texts: Sequence[Pieces]) -> NDArray[np.int64]:
    """A row a text, as wide as the longest."""
    rows = np.full((len(texts), max(map(len, texts))), PADDING, dtype=np.int64)
    for row, each in zip(rows, texts, strict=True):
        row[: len(each)] = each
    return rows


def _weights(stored: Stored) -> Mapping[str, NDArray[np.generic]]:
    """The weights as the graph has them: layers in full, pieces as they are stored."""
    names = [name for name in stored if not name.endswith(".step")]
    full = {name: _full(stored, name) for name in names if name != WORDS}
    steps = stored[STEPS].astype(np.float32).reshape(-1, 1)
    return {**full, WORDS: np.asarray(stored[WORDS]), STEPS: steps}


def _full(stored: Stored, name: str) -> Floats:
    if f"{name}.step" not in stored:
        return stored[name].astype(np.float32)
    whole = matrix(stored, name)
    return whole if name == POSITIONS else np.ascontiguousarray(whole.T)
