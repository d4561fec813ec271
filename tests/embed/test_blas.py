from collections.abc import Iterator
from importlib.resources import files
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest

from tests.catalogs import vector_arm
from toolcrib.embed import blas, one_blas_thread
from toolcrib.embed.blas import OpenBlas, openblas
from toolcrib.embed.bundled import network
from toolcrib.embed.bundled.embedder import load_weights
from toolcrib.embed.bundled.network import Network
from toolcrib.model import Variant

SHIPPED = np.show_config("dicts")["Build Dependencies"]["blas"]["name"] == "scipy-openblas"
needs_openblas = pytest.mark.skipif(not SHIPPED, reason="numpy has another BLAS here")


class Threads:
    """An OpenBLAS, as far as it is about threads."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.blas = OpenBlas(lambda: self.threads, self.put)

    def put(self, threads: int) -> None:
        self.threads = threads


@pytest.fixture
def four(monkeypatch: pytest.MonkeyPatch) -> Iterator[Threads]:
    """A process whose OpenBLAS has four threads."""
    threads = Threads(4)
    monkeypatch.setattr(blas, "openblas", lambda: threads.blas)
    yield threads
    assert threads.threads == 4


def test_there_is_one_thread_inside_and_as_many_as_before_outside(four: Threads):
    with one_blas_thread():
        assert four.threads == 1
        with one_blas_thread():
            assert four.threads == 1
        assert four.threads == 1


def test_also_when_it_raises(four: Threads):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        assert 1 / (four.threads - 1)


def test_blocks_of_several_threads_overlap(four: Threads):
    both, seen = Barrier(2), list[int]()

    def work() -> None:
        with one_blas_thread():
            both.wait()
            seen.append(four.threads)
            both.wait()
        both.wait()

    other = Thread(target=work)
    other.start()
    with one_blas_thread():
        both.wait()
        both.wait()
        seen.append(four.threads)
    both.wait()
    other.join()
    assert seen == [1, 1]


def test_what_the_program_sets_meanwhile_stays():
    host = Threads(4)
    with host.blas.one_thread():
        host.put(2)
    assert host.threads == 2


def test_the_network_runs_on_one_thread(four: Threads, monkeypatch: pytest.MonkeyPatch):
    seen: list[int] = []
    attention = network.attention

    def watched(*given: Any) -> network.Floats:
        seen.append(four.threads)
        return attention(*given)

    monkeypatch.setattr(network, "attention", watched)
    folder = files("toolcrib.embed.bundled") / "model"
    Network(load_weights(folder))([[1, 7, 9]])
    assert seen
    assert set(seen) == {1}


def test_so_does_the_vector_arm(four: Threads):
    class Watched:
        def __matmul__(self, other: object) -> object:
            assert four.threads == 1
            return np.eye(2, dtype=np.float32) @ np.asarray(other)

    arm = vector_arm(dict(zip("ab", np.eye(2, dtype=np.float32), strict=True)))
    arm.rows.base.__dict__["matrix"] = Watched()
    [(best, _)] = arm.lookup(Variant("", vector=[1.0, 0.0]))
    assert best == "a"


@needs_openblas
def test_the_openblas_of_numpy_is_found_and_obeys():
    found = openblas()
    assert found
    before = found._get()
    with one_blas_thread():
        assert found._get() == 1
    assert found._get() == before


def test_another_blas_is_left_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(blas, "FORMS", ("no_such_function_{}",))
    assert openblas.__wrapped__() is None
    monkeypatch.setattr(blas, "openblas", lambda: None)
    with one_blas_thread():
        assert np.ones((2, 2)) @ np.ones(2) == pytest.approx(2)
