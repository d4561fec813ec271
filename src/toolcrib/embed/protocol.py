"""What every embedder promises, and what helps to keep it.

`embeddable` is a text as an embedder may read it; `unit_rows` makes the promised rows of numbers
that came from elsewhere, and `checked_reading` looks at what came with them.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

LONGEST_TEXT = 8_000
"""In characters. More than any document here has, and within what embedding models take."""


TOKEN_WIDTH = 64
"""How many numbers the vector of a token has."""
TOKEN_STEPS = 127
"""A number of a token is in steps of one over this."""

Tokens = NDArray[np.int8]
"""The vectors of the tokens of a text that say something, a row each, in steps of 1/127."""


class TextReading(NamedTuple):
    """A text, read word by word: its vector, that of each token, and how much each counts.

    `weights`, from 0 up, are used where the text is a query.
    """

    vector: NDArray[np.float32]
    tokens: Tokens
    weights: NDArray[np.float32]


class Embedder(Protocol):
    """Text to vectors. `model` names the weights: embedders of one name give equal vectors."""

    @property
    def model(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, in order, each of length 1. No texts: an array of no rows.

        A row of zeros says that the model knows nothing in that text. Raises `EmbedError` when
        it cannot embed; it never returns fewer rows instead.
        """
        ...


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also tells the words of a text apart: needed for the second look."""

    def read(self, texts: Sequence[str]) -> list[TextReading]:
        """One reading a text, in order. Raises as `embed` does."""
        ...


@runtime_checkable
class QueryEmbedder(TokenEmbedder, Protocol):
    """An embedder that reads queries in other ways than tools, to be compared with these."""

    def read_queries(self, texts: Sequence[str], *, closely: bool = False) -> list[TextReading]:
        """As `read`, for queries; `closely` as well as it can, which may take longer."""
        ...


def embeddable(text: str) -> str:
    """The first `LONGEST_TEXT` characters, with U+FFFD for each half of a broken surrogate pair.

    Neither JSON in UTF-8 nor a tokeniser can carry such a half.
    """
    return text[:LONGEST_TEXT].encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def unit_rows(rows: object, *, count: int, dimensions: int | None = None) -> NDArray[np.float32]:
    """`count` rows of one size, each scaled to length 1; a row of zeros stays one.

    Raises `ValueError` for anything that is no such thing: another number of rows, rows of
    different sizes or not of the size `dimensions`, a number that is not finite.
    """
    matrix = _matrix(rows)
    if matrix.ndim != 2 or not matrix.shape[1]:  # noqa: PLR2004 - rows and columns
        raise ValueError("what came is not one list of numbers for each text")
    if len(matrix) != count:
        raise ValueError(f"{len(matrix)} vectors came for {count} texts")
    if dimensions and matrix.shape[1] != dimensions:
        raise ValueError(f"vectors of {matrix.shape[1]} numbers came instead of {dimensions}")
    if not np.isfinite(matrix).all():
        raise ValueError("a vector holds something that is not a finite number")
    return _scaled(matrix)


def checked_reading(reading: TextReading) -> TextReading:
    """The reading. Raises `ValueError` if its tokens or weights are not what was promised."""
    tokens, weights = reading.tokens, reading.weights
    if tokens.dtype != np.int8 or tokens.shape != (len(tokens), TOKEN_WIDTH):
        raise ValueError(f"tokens came that are not rows of {TOKEN_WIDTH} numbers of 8 bits")
    if weights.shape != (len(tokens),) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("there is not one weight from 0 up for each token")
    return reading


def _matrix(rows: object) -> NDArray[np.float64]:
    try:
        return np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError("what came is not lists of numbers of one length") from error


def _scaled(matrix: NDArray[np.float64]) -> NDArray[np.float32]:
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    bounded = matrix / np.where(largest, largest, 1.0)  # so that no square overflows or vanishes
    lengths = np.linalg.norm(bounded, axis=1, keepdims=True)
    return (bounded / np.where(lengths, lengths, 1.0)).astype(np.float32)
