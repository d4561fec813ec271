"""Without the power of root to read and write whatever it likes, as nearly every user is."""

import ctypes
import os
from collections.abc import Generator
from contextlib import contextmanager

VERSION = 0x20080522
OVERRIDE, READ_SEARCH = 1 << 1, 1 << 2


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Set(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable"))


@contextmanager
def modes_hold() -> Generator[None]:
    """While this lasts, the modes of files hold for this thread, for root too (Linux)."""
    if os.geteuid():
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = _Header(VERSION, 0), (_Set * 2)()
    assert not libc.capget(ctypes.byref(header), sets)
    before = sets[0].effective
    sets[0].effective = before & ~(OVERRIDE | READ_SEARCH)
    assert not libc.capset(ctypes.byref(header), sets)
    try:
        yield
    finally:
        sets[0].effective = before
        assert not libc.capset(ctypes.byref(header), sets)
