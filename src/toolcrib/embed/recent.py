"""The vectors asked for last, in memory."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock

import numpy as np
from numpy.typing import NDArray


class Recent:
    """At most `most` vectors; the one that nobody asked for longest goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._vectors: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()

    def find(self, hashes: Iterable[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Those that are here, now the last to go."""
        with self._lock:
            found = {key: self._vectors[key] for key in hashes if key in self._vectors}
            for key in found:
                self._vectors.move_to_end(key)
        return found

    def add(self, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Copies, so that no row keeps the matrix alive that it was cut from."""
        newest = list(vectors.items())[-self._most :]
        with self._lock:
            for key, vector in newest:
                self._vectors[key] = vector.copy()
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._most:
                self._vectors.popitem(last=False)
