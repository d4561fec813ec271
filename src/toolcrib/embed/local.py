"""Vectors from a model on this machine, through a package that is an extra of Toolcrib.

Nothing is downloaded: a model is a folder, or a name that an earlier download put into the cache
of the package. The packages are untyped at this door, and imported when one of them is chosen.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.protocol import embeddable, unit_rows
from toolcrib.errors import EmbedError

LocalPackage = Literal["fastembed", "model2vec", "sentence-transformers"]
Encode = Callable[[list[str]], Any]


class LocalEmbedder:
    """Vectors from one of the local packages, one call at a time: their tokenisers need that.

    A model in a folder is known by its path: other weights belong in another folder. `dimensions`
    keeps that many of the first numbers of each vector, for models trained for it.
    """

    def __init__(self, package: LocalPackage, model: str, *, dimensions: int | None = None) -> None:
        """Raises `EmbedError` when the package is not installed or the model is not here."""
        place = Path(model).resolve() if Path(model).is_dir() else model
        self.model = f"{package}:{place}" + (f" ({dimensions})" if dimensions else "")
        self._dimensions = dimensions
        self._encode = _load(package, model)
        self._encoding = Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        try:
            with self._encoding:
                rows = np.asarray(self._encode([embeddable(text) for text in texts]))
            return unit_rows(
                rows[:, : self._dimensions], count=len(texts), dimensions=self._dimensions
            )
        except Exception as error:
            raise EmbedError(
                f"no vectors from {self.model}: {error}; check the model and its dimensions"
            ) from error


def _load(package: LocalPackage, model: str) -> Encode:
    try:
        return LOADERS[package](model)
    except ImportError as error:
        raise EmbedError(
            f"{package} is not installed ({error}); run: pip install 'toolcrib[{package}]'"
        ) from error
    except Exception as error:
        raise EmbedError(
            f"{package} has no model {model!r} here ({error}); Toolcrib downloads nothing by "
            f"itself, so first run: {DOWNLOADS[package].format(model)}"
        ) from error


def _fastembed(model: str) -> Encode:
    embedding = import_module("fastembed").TextEmbedding(model, local_files_only=True)
    return lambda texts: list(embedding.embed(texts))


def _model2vec(model: str) -> Encode:
    static_model = import_module("model2vec").StaticModel
    return static_model.from_pretrained(_folder(model)).encode


def _sentence_transformers(model: str) -> Encode:
    transformer = import_module("sentence_transformers").SentenceTransformer
    loaded = transformer(_folder(model), local_files_only=True)
    return lambda texts: loaded.encode(texts, show_progress_bar=False)


def _folder(model: str) -> str:
    """Where the model is. Given its name alone, both packages may ask the hub for it."""
    if Path(model).is_dir():
        return model
    return import_module("huggingface_hub").snapshot_download(model, local_files_only=True)


LOADERS: Mapping[LocalPackage, Callable[[str], Encode]] = {
    "fastembed": _fastembed,
    "model2vec": _model2vec,
    "sentence-transformers": _sentence_transformers,
}
DOWNLOADS: Mapping[LocalPackage, str] = {
    "fastembed": "python -c \"import fastembed; fastembed.TextEmbedding('{}')\"",
    "model2vec": "hf download {}",
    "sentence-transformers": "hf download {}",
}
