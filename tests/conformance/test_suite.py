"""The fixture itself conforms: what fails behind the gateway is then the gateway's."""

import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conformance.suite import REVISIONS, conformance, free_port

ROOT = Path(__file__).parents[2]


@contextmanager
def everything() -> Generator[str]:
    """The fixture over HTTP, without a gateway; its address."""
    port = free_port()
    arguments = ["-m", "tests.conformance.everything", "--port", str(port)]
    with subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stderr=subprocess.DEVNULL) as one:
        try:
            _until_open(port)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            one.kill()


def _until_open(port: int) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the fixture does not start")


@pytest.mark.clients
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_fixture_conforms_by_itself(revision: str, tmp_path: Path):
    with everything() as url:
        verdict = conformance(url, revision, tmp_path)
    assert (verdict.failed, verdict.why) == (frozenset(), "")
    assert len(verdict.passed) == REVISIONS[revision]
