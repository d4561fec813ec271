"""What every embedder promises, held against each that can run here."""

import numpy as np
import pytest

from tests.embed.dict_cache import DictCache
from tests.embed.loopback import serving
from tests.embed.tiny_model import save_tiny_model
from toolcrib.embed import CachedEmbedder, Embedder
from toolcrib.embed.bundled.embedder import BundledEmbedder
from toolcrib.embed.local import LocalEmbedder
from toolcrib.embed.openai import OpenAIEmbedder
from toolcrib.errors import EmbedError

TEXTS = ["read a file", "write", "search web !", "read a file", "読 文", "a\ud83d message\0"]


def remote(folder):
    with serving() as loopback:
        embedder = OpenAIEmbedder(loopback.url, "tiny", timeout_s=60.0, batch=2, retries=3)
        yield embedder
        embedder.close()


def model2vec(folder):
    yield LocalEmbedder("model2vec", str(save_tiny_model(folder)))


def bundled(folder):
    yield BundledEmbedder()


@pytest.fixture(params=[remote, model2vec, bundled])
def bare(request, tmp_path):
    yield from request.param(tmp_path)


@pytest.fixture(params=["bare", "cached"])
def embedder(request, bare) -> Embedder:
    return bare if request.param == "bare" else CachedEmbedder(bare, DictCache(), chunk=4)


def test_one_row_of_length_one_for_each_text(embedder):
    rows = embedder.embed(TEXTS)
    assert rows.dtype == np.float32
    assert rows.shape[0] == len(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


def test_a_row_depends_on_its_text_alone(embedder):
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in reversed(TEXTS)])
    np.testing.assert_allclose(together, alone[::-1], atol=1e-6)
    equal = np.argwhere(together @ together.T > 1 - 1e-5)
    assert [(one, other) for one, other in equal.tolist() if one < other] == [(0, 3)]


def test_no_texts_are_no_rows(embedder):
    assert len(embedder.embed([])) == 0


def test_a_text_of_any_length_has_a_vector(embedder):
    assert len(embedder.embed(["read " * 200_000])) == 1


def test_the_model_has_a_name_that_stays(embedder):
    name = embedder.model
    embedder.embed(["read"])
    assert name
    assert embedder.model == name


@pytest.mark.parametrize("bare", [remote], indirect=True)
def test_a_failure_is_an_error(embedder, bare):
    bare._timeout_s = 0.0
    with pytest.raises(EmbedError, match=";"):
        embedder.embed(["read"])
