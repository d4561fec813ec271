"""One browser and one world a run, one context a test.

They are gone when the last test of this folder is: while Playwright runs, its loop is the thread's,
and no other test could run one.
"""

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from scripts.install_browser import chromium
from tests.browser.tab import Tab, Visitor, new_visitor
from tests.browser.world import ClientThread, World, client_of, world_in
from tests.sources.mcp.faking import nothing_left

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FLAGS = (
    "--no-sandbox",  # CI is root, and Chromium's sandbox is not for root
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--disable-features=LocalNetworkAccessChecks",  # Chromium's wall; it is ours that is tried
    "--host-resolver-rules=MAP rebound.example 127.0.0.1",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--screenshots", action="store_true", help="make the guide's pictures anew")


@pytest.fixture(scope="package")
def browser(world: World) -> Generator["Browser"]:
    """One for all tests. The world looks for what is left of it, and a browser starts processes."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not everybody has it

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS])
        yield launched
        launched.close()


@pytest.fixture(scope="package")
def world(tmp_path_factory: pytest.TempPathFactory) -> Generator[World]:
    with nothing_left(), world_in(tmp_path_factory.mktemp("world")) as made:
        yield made


@pytest.fixture(scope="package")
def client(world: World) -> Generator[ClientThread]:
    """A client that is there for all tests."""
    with client_of(world) as made:
        yield made


@pytest.fixture
def visitor(browser: "Browser") -> Generator[Visitor]:
    """A person whose browser knows nothing yet."""
    with new_visitor(browser) as made:
        yield made


@pytest.fixture
def operator(world: World, visitor: Visitor) -> Tab:
    """A person who has just used a link."""
    return visitor.log_in(world.new_link())
