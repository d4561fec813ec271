"""What holds for every test: a home of its own, no settings from outside, no hurry, and words.

The bundled model answers when it is ready, so a search just after a start may or may not have
vectors. Tests are about words unless they name an embedder.
"""

import gc
import logging
import os
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from scripts import install_browser, install_test_clients
from toolcrib import wiring
from toolcrib.embed import Embedder
from toolcrib.settings import Settings

pytest_plugins = ("tests.postgres",)

# A loaded machine is slow now and then; that is no finding.
settings.register_profile("toolcrib", deadline=None)
settings.load_profile("toolcrib")

# Nothing that is collected goes again: to look for garbage meanwhile takes a third of that time.
gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what needs a browser or the clients of other people, where there are none.

    What needs a browser comes last, because it shares one.
    """
    items.sort(key=lambda item: bool(item.get_closest_marker("browser")))
    needed = {"browser": install_browser, "clients": install_test_clients}
    for mark, script in needed.items():
        if not script.installed():
            skip = pytest.mark.skip(reason=f"not installed: run `{script.COMMAND}`")
            for item in items:
                if item.get_closest_marker(mark):
                    item.add_marker(skip)


def pytest_collection_finish() -> None:
    """Spare the garbage collector the tests and all that they import: none of it ever goes."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say of each reason to leave a test out how many it left out."""
    reports: list[pytest.TestReport] = terminalreporter.getreports("skipped")
    places = [report.longrepr for report in reports if isinstance(report.longrepr, tuple)]
    for reason, count in Counter(reason for _, _, reason in places).most_common():
        terminalreporter.write_line(f"{count:4} left out: {reason.removeprefix('Skipped: ')}")


FOLDERS = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


@pytest.fixture(autouse=True, scope="module")
def module_home(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """A home for what a whole file of tests shares, so that none of it is the user's."""
    with pytest.MonkeyPatch.context() as patch:
        _move_home(patch, tmp_path_factory.mktemp("module_home"))
        yield


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, in place of the user's; no `TOOLCRIB_*` variable is set."""
    return _move_home(monkeypatch, tmp_path_factory.mktemp("home"))


def _move_home(patch: pytest.MonkeyPatch, folder: Path) -> Path:
    for variable in [name for name in os.environ if name.startswith("TOOLCRIB_")]:
        patch.delenv(variable)
    for variable in (*FOLDERS, "OPENAI_API_KEY", "ENABLE_TOOL_SEARCH"):
        patch.delenv(variable, raising=False)
    patch.setenv("HOME", str(folder))
    patch.setenv("USERPROFILE", str(folder))
    return folder


@pytest.fixture(autouse=True)
def words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that name no embedder have none: the one place that makes one is given another."""
    make = wiring.embedder_of

    def named(settings: Settings) -> Embedder | None:
        return make(settings) if "embedder" in settings.embed.given else None

    monkeypatch.setattr(wiring, "embedder_of", named)


@pytest.fixture
def unlogged() -> Generator[None]:
    """As in a program that has set up no log; what the test sets up is gone with it."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    root.handlers = []
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers = handlers
    root.setLevel(level)
