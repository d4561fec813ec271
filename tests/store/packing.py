"""Packs with a number, and a process that writes one after another until it is killed."""

from itertools import count
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np

from toolcrib.store import Pack, write_pack

KIND, KEY = "numbers", bytes(32)
SIZE = 20_000


def write_generation(path: Path, number: int, times: int = 1) -> None:
    """Write a pack that has this number everywhere."""
    for _ in range(times):
        section = np.full(SIZE, number, np.int32)
        parts = {"one": section, "rank:two": section, "lazy:three": [section] * 4}
        write_pack(path, KIND, {"number": number}, parts, KEY)


def contents_of(path: Path) -> int:
    """The number that a whole pack has."""
    pack = Pack.open(path, KIND, KEY)
    arrays = [pack.array(name, np.int32) for name in ("one", "rank:two", "lazy:three")]
    numbers = {*np.concatenate(arrays).tolist()}
    assert [*numbers] == [pack.header["number"]]
    assert [array.size for array in arrays] == [SIZE, SIZE, SIZE * 4]
    return int(arrays[0][0])


def write_for_ever(path: Path, started: Event) -> None:
    """Write one generation after another; say so when the first is about to be written."""
    started.set()
    for number in count(contents_of(path) + 1):
        write_generation(path, number)
