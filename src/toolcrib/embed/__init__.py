"""Text becomes vectors: the bundled model, a local package, or an endpoint.

    settings → make_embedder → Embedder → CachedEmbedder → rows of length 1

protocol    `Embedder`: one row a text, each of length 1, or `EmbedError`; never fewer rows;
            `TokenEmbedder`: the words of a text apart as well, for the second look;
            `QueryEmbedder`: queries are read in another way than tools
factory     `make_embedder`: which embedder the settings name
bundled/    the model that comes with Toolcrib, on numpy; nothing to install. Queries go through a
            smaller network than tools. A process that reads many tools goes on with onnxruntime, if
            that is there
local       models on this machine, through fastembed, model2vec or sentence-transformers
openai      any HTTP endpoint that speaks OpenAI's embeddings API: batches, retries, deadline
cached      asks an embedder only for texts that neither memory nor the store has
blas        one thread for products of matrices, on numpy's OpenBLAS

Only `openai` goes out on the network, and only when the settings say so. Nothing is downloaded.
Whoever writes an embedder of their own needs `model` and `embed`, no base class; the contract test
is tests/contracts/test_embedder.py.

An embedder that fails costs search its vector arm and nothing else: `toolcrib.index` sees to that.
Vectors are kept by model and hash of text in `toolcrib.store`; they are compared in the vector arm
of `toolcrib.index`. How the bundled model was made is told in training/README.md.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.embed.blas import one_blas_thread
    from toolcrib.embed.bundled.embedder import BUNDLED_MODEL
    from toolcrib.embed.cached import CachedEmbedder, text_hash
    from toolcrib.embed.factory import make_embedder
    from toolcrib.embed.protocol import (
        TOKEN_STEPS,
        Embedder,
        QueryEmbedder,
        TextReading,
        TokenEmbedder,
        Tokens,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "blas": ("one_blas_thread",),
            "bundled.embedder": ("BUNDLED_MODEL",),
            "cached": ("CachedEmbedder", "text_hash"),
            "factory": ("make_embedder",),
            "protocol": (
                "TOKEN_STEPS",
                "Embedder",
                "QueryEmbedder",
                "TextReading",
                "TokenEmbedder",
                "Tokens",
            ),
        },
    )
