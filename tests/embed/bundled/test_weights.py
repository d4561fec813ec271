"""The files of the weights: mapped where there is a file to map, read where there is none."""

from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import Path as ZipPath
from zipfile import ZipFile

import numpy as np
import pytest
from numpy.typing import NDArray

from toolcrib.embed.bundled import weights
from toolcrib.embed.bundled.weights import load_query_weights, load_weights

MODEL = files("toolcrib.embed.bundled") / "model"
ARRAYS = {
    "odd": np.arange(3, dtype=np.int8),
    "steps": np.linspace(0, 1, 5, dtype=np.float16),
    "matrix": np.arange(12, dtype=np.int8).reshape(3, 4),
}


def in_a_file(array: NDArray[np.generic]) -> bool:
    """Whether the numbers lie in a mapped file, and not in memory of our own."""
    holder: Any = array
    while not isinstance(holder, np.memmap | None):
        holder = holder.obj if isinstance(holder, memoryview) else holder.base
    return holder is not None


@pytest.mark.parametrize("load", [load_weights, load_query_weights])
def test_weights_are_mapped_and_not_read(load):
    stored = load(MODEL)
    assert len(stored) > 50
    assert all(in_a_file(array) for array in stored.values())


def test_both_networks_have_the_same_pieces():
    one, other = load_weights(MODEL), load_query_weights(MODEL)
    for name in ("words.weight", "words.weight.step"):
        np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.parametrize("file", ["weights.npz", "query.npz"])
def test_they_are_what_numpy_reads(file):
    stored = {"weights.npz": load_weights, "query.npz": load_query_weights}[file](MODEL)
    with (MODEL / file).open("rb") as opened, np.load(opened) as read:
        assert {*read.files} <= {*stored}
        for name in read.files:
            assert stored[name].dtype == read[name].dtype
            np.testing.assert_array_equal(stored[name], read[name])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_compressed_weights_are_read(tmp_path: Path, save):
    file = tmp_path / "weights.npz"
    save(file, **ARRAYS)
    stored = weights._arrays(file)
    assert {*stored} == {*ARRAYS}
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(stored[name], array)
        assert in_a_file(stored[name]) == (save is np.savez)
    assert {*weights._arrays(file, "steps")} == {"steps"}


def test_a_package_in_an_archive_has_its_weights_read(tmp_path: Path):
    with ZipFile(tmp_path / "package.zip", "w") as package:
        for name in ("weights.npz", "query.npz"):
            content = BytesIO()
            arrays: dict[str, Any] = {"words.weight.step": ARRAYS["steps"], name: ARRAYS["matrix"]}
            np.savez(content, **arrays)
            package.writestr(name, content.getvalue())
        content = BytesIO()
        np.save(content, ARRAYS["odd"])
        package.writestr("words.npy", content.getvalue())
    stored = load_query_weights(ZipPath(tmp_path / "package.zip"))
    assert {*stored} == {"query.npz", "words.weight.step", "words.weight"}
    np.testing.assert_array_equal(stored["query.npz"], ARRAYS["matrix"])
