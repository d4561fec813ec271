"""The fixture itself conforms: what fails behind the gateway is then the gateway's."""

import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.conformance.suite import REVISIONS, conformance, free_port
from tests.waiting import until

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
    def opens() -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        return False

    until(opens, "the fixture starts")


@pytest.mark.clients
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_fixture_conforms_by_itself(revision: str, tmp_path: Path):
    with everything() as url:
        verdict = conformance(url, revision, tmp_path)
    assert (verdict.failed, verdict.why) == (frozenset(), "")
    assert len(verdict.passed) == REVISIONS[revision]
