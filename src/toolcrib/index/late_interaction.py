"""Late interaction: how well a tool answers every word of a query.

    look(query, tool) = Σ_word weight · best(word) / Σ_word weight
    best(word)        = the largest cosine of the word with any token of the tool
    weight            = how much the word counts in a query, as the model has learned

The vector of a whole text lets one strong word speak for the rest. Here each word has to be
answered for by itself: a product that is named, an opposite verb, a thing that the tool does not
know each find no good match. Tokens come from the embedder, 8 bits a number; see
`toolcrib.embed`. This is no arm: it looks at what the arms have found.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed import TOKEN_STEPS, TextReading, Tokens, one_blas_thread


def late_interaction(query: TextReading, tools: Sequence[Tokens]) -> list[float]:
    """The look at each tool, from -1 to 1, in order.

    The query and every tool have at least one token.
    """
    words = query.tokens.astype(np.float32)
    shares = query.weights / max(float(query.weights.sum()), 1e-6)
    return [float(best @ shares) for best in _best_matches(words, tools)]


def _best_matches(
    words: NDArray[np.float32], tools: Sequence[Tokens]
) -> Iterator[NDArray[np.float32]]:
    """For each tool the largest cosine of every word, all products in one."""
    if not tools:
        return
    starts = np.cumsum([0, *(len(each) for each in tools)])[:-1]
    with one_blas_thread():  # a second thread waits longer than so small a product takes
        dots = words @ np.concatenate(tools).astype(np.float32).T
    yield from (np.maximum.reduceat(dots, starts, axis=1) / TOKEN_STEPS**2).T
