from collections.abc import Generator
from contextlib import nullcontext

import pytest

from toolcrib.crib import Crib
from toolcrib.dashboard.backends import OpenCrib
from toolcrib.settings import Settings


def read_file(path: str) -> str:
    """Read a text file from the disk."""
    return path


def write_file(path: str, text: str) -> None:
    """Write a text to a file on the disk."""


def send_mail(to: str, body: str) -> None:
    """Send a mail to somebody."""


@pytest.fixture
def library() -> Generator[OpenCrib]:
    """A crib with a few tools, to look into."""
    with Crib(Settings(store=":memory:")) as crib:
        crib.add(read_file, write_file, send_mail)
        yield lambda: nullcontext(crib)
