"""Real servers are the same behind the gateway: their tools, and what these answer."""

from pathlib import Path

import pytest

from benchmarks.servers import NAME, Row, compared
from scripts import install_more_servers, install_test_servers

PAGE = Path(__file__).parents[3] / "docs" / "servers.md"
FEWEST = 25


@pytest.mark.clients
@pytest.mark.usefixtures("installed")
def test_real_servers_are_the_same_behind_the_gateway():
    rows = compared()
    assert {row.server.name: [*row.differences] for row in rows if not row.same} == {}
    assert len(rows) >= FEWEST
    assert all(map(something, rows))


def something(row: Row) -> bool:
    """Whether there was anything to compare."""
    return bool(row.direct.tools and row.direct.answers)


def test_the_page_names_what_is_installed():
    page = PAGE.read_text()
    few = install_test_servers.NPM | install_test_servers.PYPI
    more = [*install_more_servers.PLACES, *install_more_servers.LARGE]
    pinned = few | {name: version for each in more for name, version in each.packages.items()}
    del pinned["mcp"]  # a bound for others, no server
    assert f"<!-- {NAME}: begin -->" in page
    for name, version in pinned.items():
        assert f"| {name} | {version.removeprefix('==')} |" in page
