"""What a search of a crib costs: which parts of the model it has to load."""

from importlib.resources.abc import Traversable

import pytest

from toolcrib.crib import Crib
from toolcrib.embed.bundled import embedder as bundled
from toolcrib.embed.bundled.network import Stored
from toolcrib.embed.bundled.weights import load_weights
from toolcrib.settings import EmbedSettings, Settings


def read_file(path: str) -> str:
    """Read a text file."""
    return path


def list_directory(path: str) -> str:
    """List what is in a directory."""
    return path


def crib() -> Crib:
    made = Crib(Settings(embed=EmbedSettings(embedder="bundled")))
    made.add(read_file, list_directory)
    return made


def test_a_question_that_nothing_fits_loads_no_network_for_tools(monkeypatch: pytest.MonkeyPatch):
    with crib() as first:
        first.search("read a file")
        assert first.index.embedded(60)
    loads: list[Traversable] = []

    def load(folder: Traversable) -> Stored:
        loads.append(folder)
        return load_weights(folder)

    monkeypatch.setattr(bundled, "load_weights", load)
    with crib() as warm:
        assert warm.search("read a file").hits
        answer = warm.search("bake a cake with cherries")
        assert not answer.hits, "it has to be a question that nothing fits"
        assert not loads
        warm.search("read a file and then list a directory")
        assert loads, "what asks for several things is read by the network for tools"
