"""What every embedder promises."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


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
