"""One thread for our products of matrices, whatever the environment sets.

numpy hands them to OpenBLAS, which takes a thread for each core unless a variable says otherwise
before numpy is loaded. Its threads wait for one another by spinning: on a machine that has other
work, products of our sizes take many times as long and as much CPU as on one thread. A library
cannot set that variable, for numpy is there before it. So we ask OpenBLAS itself.

Other makers of BLAS (Accelerate, MKL) are left alone.
"""

import ctypes
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np

MODULES = ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath")
"""Where numpy keeps what is linked with BLAS, by its versions."""
FORMS = (
    "scipy_openblas_{}_num_threads64_",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
"""How its functions may be called, by who has built it."""


class OpenBlas:
    """The number of threads of the OpenBLAS in this process, which all of the process shares.

    The first block of ours sets it to one, the last one restores it, unless somebody else has set
    it meanwhile.
    """

    def __init__(self, get: Callable[[], int], put: Callable[[int], object]) -> None:
        self._get = get
        self._put = put
        self._lock = Lock()
        self._inside = 0
        self._before = 1

    @contextmanager
    def one_thread(self) -> Generator[None]:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = self._get()
                self._put(1)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside and self._get() == 1:
                    self._put(self._before)


@contextmanager
def one_blas_thread() -> Generator[None]:
    """A block whose products run on the thread that asks for them. Blocks may nest and overlap."""
    found = openblas()
    if found is None:
        yield
        return
    with found.one_thread():
        yield


@cache
def openblas() -> OpenBlas | None:
    """The OpenBLAS that numpy has loaded; None where it has another BLAS."""
    for library in _libraries():
        for form in FORMS:
            try:
                get, put = library[form.format("get")], library[form.format("set")]
            except AttributeError:
                continue
            get.restype, put.argtypes = ctypes.c_int, [ctypes.c_int]
            return OpenBlas(get, put)
    return None


def _libraries() -> Iterator[ctypes.CDLL]:
    """What numpy has loaded: its own module, which finds what it is linked with, and what it ships.

    The second is for Windows, where a module does not find it.
    """
    package = Path(np.__file__).parent
    modules = (sys.modules[name].__file__ for name in MODULES if name in sys.modules)
    shipped = (package.parent / "numpy.libs").glob("*openblas*")
    for path in filter(None, (*modules, *map(str, shipped))):
        try:
            yield ctypes.CDLL(path)
        except OSError:
            continue
