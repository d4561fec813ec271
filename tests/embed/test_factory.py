import sys

import pytest

from toolcrib.embed import Embedder
from toolcrib.errors import ConfigError, EmbedError
from toolcrib.settings import Settings
from toolcrib.wiring import embedder_of


def made_by(**embed: object) -> Embedder | None:
    """The embedder by these settings of `embed`, and by the defaults of all others."""
    return embedder_of(Settings.model_validate({"embed": embed}))


def test_none_is_none():
    assert made_by(embedder="none") is None


def test_the_bundled_one_needs_no_model_to_be_named():
    made = made_by(embedder="bundled", dimensions=128)
    assert made
    assert made.embed(["read a file"]).shape == (1, 128)


def test_openai_is_an_endpoint(loopback):
    made = made_by(
        embedder="openai", model="tiny", url=loopback.url, api_key="k", batch=1, dimensions=4
    )
    assert made
    assert made.model == f"tiny (4) at {loopback.url}/embeddings"
    assert made.embed(["a", "b"]).shape == (2, 4)
    assert [request.headers["Authorization"] for request in loopback.seen] == ["Bearer k"] * 2


@pytest.mark.parametrize("package", ["fastembed", "model2vec", "sentence-transformers"])
def test_a_local_package_is_looked_for(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package.replace("-", "_"), None)
    with pytest.raises(EmbedError, match=f"{package} is not installed"):
        made_by(embedder=package, model="m")


@pytest.mark.parametrize("package", ["openai", "model2vec"])
def test_a_model_must_be_named(package):
    with pytest.raises(ConfigError, match="has no model; name one"):
        made_by(embedder=package, url="http://localhost")


def test_an_endpoint_must_be_given():
    with pytest.raises(ConfigError, match="url"):
        made_by(embedder="openai", model="m", url="")
