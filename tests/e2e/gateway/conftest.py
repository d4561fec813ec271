"""One gateway in front of the twelve real servers, for all tests that only ask it."""

from collections.abc import Generator, Sequence
from typing import NamedTuple

import pytest

from benchmarks import journey
from benchmarks.playground import playground
from scripts.install_test_servers import install, servers
from tests.e2e.gateway.errands import Errand, errands
from tests.e2e.gateway.running import Gateway, gateway_over
from tests.sources.mcp.faking import nothing_left

SEARCH = "search"
PROFILE = f"""
[gateway.profiles.{SEARCH}]
mode = "search"
"""
"""Some of the clients are shown all tools otherwise: those that search by themselves."""


class Twelve(NamedTuple):
    """The gateway, and an errand for each of its servers."""

    gateway: Gateway
    errands: Sequence[Errand]


@pytest.fixture(scope="module")
def installed() -> None:
    """All servers of the table and of the journey; in the user's own home, by their settings."""
    journey.install()


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory) -> Generator[Twelve]:
    """The daemon runs meanwhile."""
    folder = tmp_path_factory.mktemp("twelve")
    ground = playground(folder)
    with (
        nothing_left(),
        gateway_over(folder, servers(install(), ground), PROFILE) as gateway,
        gateway.daemon(),
    ):
        yield Twelve(gateway, errands(ground))
