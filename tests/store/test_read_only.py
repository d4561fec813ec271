"""A store that may be read and not written: there is an answer, and one word about it."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.powers import modes_hold
from tests.waiting import HANG_S
from tests.workshop import SEEN, ListedSource
from toolcrib import Crib, Settings
from toolcrib.errors import StoreError
from toolcrib.settings import EmbedSettings


def stocked(path: Path, embedder: str, index: str = "auto") -> Crib:
    embed = EmbedSettings.model_validate({"embedder": embedder})
    settings = Settings(store=str(path), builtin_tools=False, plugins=False, embed=embed)
    crib = Crib(settings.model_copy(update={"index": index}))
    crib.add_source(ListedSource(*SEEN))
    return crib


@contextmanager
def not_to_be_written(*paths: Path) -> Generator[None]:
    """Neither files nor folders."""
    modes = [(path, path.stat().st_mode) for path in paths]
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        with modes_hold():
            yield
    finally:
        for path, mode in modes:
            path.chmod(mode)


def found(crib: Crib) -> list[str]:
    """With vectors, if there are any to come."""
    crib.search("read a file")
    assert crib.index.embedded(HANG_S)
    return [hit.name for hit in crib.search("read a file")]


@pytest.mark.plan(7)
@pytest.mark.parametrize("embedder", ["none", "bundled"])
@pytest.mark.parametrize("what", ["file", "folder", "both"])
def test_it_is_searched_and_that_is_said_once(
    tmp_path: Path, what: str, embedder: str, caplog: pytest.LogCaptureFixture
):
    path = tmp_path / "store" / "catalog.db"
    with stocked(path, embedder, "sqlite") as crib:
        crib.index.store()
        before = found(crib)
    locked = [each for each in (path, path.parent) if what in ("both", _kind(each))]
    content = path.read_bytes()
    with (
        caplog.at_level(logging.WARNING),
        not_to_be_written(*locked),
        stocked(path, embedder) as crib,
    ):
        for _ in range(5):
            assert found(crib) == before
        told = [each for each in crib.problems if "catalog.db" in each]
        assert len(told) <= 1
        if what == "both" and embedder != "none":  # else nothing of the file is needed
            assert "may be read but not written" in told[0]
        if what != "folder":
            with (
                pytest.raises(StoreError, match="may be read but not written"),
                stocked(path, embedder, "sqlite") as other,
            ):
                other.index.store()
    assert len([each for each in caplog.messages if "catalog.db" in each]) <= 2
    assert path.read_bytes() == content or what == "folder"
    with stocked(path, embedder) as crib:
        assert found(crib) == before
        assert crib.problems == ()


def _kind(path: Path) -> str:
    return "folder" if path.is_dir() else "file"
