"""The official conformance suite, through the gateway."""

import sys
from pathlib import Path

import pytest

from tests.conformance.key_relay import relay_to
from tests.conformance.suite import REVISIONS, conformance, free_port
from tests.e2e.gateway.running import gateway_over
from tests.sources.mcp.faking import nothing_left

ROOT = Path(__file__).parents[2]
EVERYTHING = {
    "command": sys.executable,
    "args": ["-m", "tests.conformance.everything"],
    "cwd": str(ROOT),
    "sampling": True,
}
SETTINGS = """
[gateway]
mode = "passthrough"
port = {port}
origins = ["http://127.0.0.1:{port}", "http://localhost:{port}"]
"""
"""Pages of this machine are let in, as the suite wants it; by default no page is."""


@pytest.mark.plan(61)
@pytest.mark.clients
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_gateway_conforms(revision: str, tmp_path: Path):
    settings = SETTINGS.format(port=free_port())
    with (
        nothing_left(),
        gateway_over(tmp_path, {"everything": EVERYTHING}, settings) as gateway,
        gateway.daemon() as daemon,
        relay_to(daemon["port"], gateway.new_key()) as url,
    ):
        verdict = conformance(url, revision, tmp_path / "results")
    assert verdict.why == ""
    assert len(verdict.passed) == REVISIONS[revision]
