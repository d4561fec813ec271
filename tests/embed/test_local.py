import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.embed.tiny_model import save_tiny_model
from toolcrib.embed.local import LOADERS, LocalEmbedder
from toolcrib.errors import EmbedError

POTION = "minishlab/potion-base-8M"


@pytest.fixture
def tiny_model(tmp_path):
    return save_tiny_model(tmp_path / "tiny")


def need(package):
    reason = f"no {package}: run `make extras`"
    pytest.importorskip(package.replace("-", "_"), reason=reason)


def put_into_cache(folder: Path, cache: Path) -> None:
    """Lay a model out as `hf download` leaves it."""
    repository = cache / f"models--{POTION.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("abc")
    (repository / "snapshots").mkdir()
    folder.rename(repository / "snapshots" / "abc")


def test_a_model2vec_folder_is_loaded_and_named_by_its_path(tiny_model, monkeypatch):
    monkeypatch.chdir(tiny_model.parent)
    embedder = LocalEmbedder("model2vec", "tiny")
    assert embedder.model == f"model2vec:{tiny_model}"
    rows = embedder.embed(["read a file", "file a read", "search web"])
    assert rows.shape == (3, 256)
    assert rows[0] @ rows[1] == pytest.approx(1)
    assert rows[0] @ rows[2] < 0.9


def test_the_first_dimensions_of_a_local_model_can_be_kept(tiny_model):
    embedder = LocalEmbedder("model2vec", str(tiny_model), dimensions=16)
    assert embedder.model.endswith("tiny (16)")
    assert embedder.embed(["read"]).shape == (1, 16)
    with pytest.raises(EmbedError, match="vectors of 256 numbers came instead of 999"):
        LocalEmbedder("model2vec", str(tiny_model), dimensions=999).embed(["read"])


def test_a_text_of_which_the_model_knows_nothing_is_a_row_of_zeros(tiny_model):
    known, unknown = LocalEmbedder("model2vec", str(tiny_model)).embed(["read", "zzz"])
    assert known.any()
    assert not unknown.any()


def test_one_local_model_serves_many_threads(tiny_model):
    embedder = LocalEmbedder("model2vec", str(tiny_model))
    expected = embedder.embed(["read a file"])
    with ThreadPoolExecutor(8) as threads:
        for rows in threads.map(embedder.embed, [["read a file"]] * 200):
            np.testing.assert_array_equal(rows, expected)


def test_a_folder_without_a_model_is_an_error(tiny_model, tmp_path):
    with pytest.raises(EmbedError, match="model2vec has no model"):
        LocalEmbedder("model2vec", str(tmp_path))


@pytest.mark.extras
def test_a_sentence_transformers_folder_is_loaded(tiny_model):
    need("sentence-transformers")
    rows = LocalEmbedder("sentence-transformers", str(tiny_model)).embed(["read a file", "web"])
    np.testing.assert_allclose(
        rows, LocalEmbedder("model2vec", str(tiny_model)).embed(["read a file", "web"]), atol=1e-5
    )


@pytest.mark.extras
def test_a_fastembed_model_is_loaded_from_its_cache(tiny_model, tmp_path, monkeypatch):
    need("fastembed")
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "cache"))
    put_into_cache(tiny_model, tmp_path / "cache")
    rows = LocalEmbedder("fastembed", POTION).embed(["read a file", "web"])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("package", LOADERS)
def test_a_package_that_is_not_installed_says_how_to_install_it(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package.replace("-", "_"), None)
    with pytest.raises(EmbedError, match=rf"run: pip install 'toolcrib\[{package}\]'"):
        LocalEmbedder(package, "some/model")


@pytest.mark.extras
@pytest.mark.parametrize(
    ("package", "model", "step"),
    [
        ("fastembed", POTION, f"TextEmbedding('{POTION}')"),
        ("model2vec", "no-such/model", "hf download no-such/model"),
        ("sentence-transformers", "no-such/model", "hf download no-such/model"),
    ],
)
def test_a_model_that_is_not_here_is_not_fetched(package, model, step, tmp_path, monkeypatch):
    need(package)
    went_out = []
    monkeypatch.setattr("socket.getaddrinfo", lambda *place, **_: went_out.append(place))
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    with pytest.raises(EmbedError, match=f"first run: .*{re.escape(step)}"):
        LocalEmbedder(package, model)
    assert not went_out
