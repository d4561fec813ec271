"""Apps in a folder of their own, and a program that joins them."""

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.defaults import APP_RULES
from tests.sources.apps.joining import PROGRAM
from toolcrib.sources.apps import AppRegistry


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "apps"


@pytest.fixture
def apps(folder: Path) -> Generator[AppRegistry]:
    found = AppRegistry(folder, APP_RULES)
    yield found
    found.close()


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A file with an app of two tools."""
    file = tmp_path / "calendar_app.py"
    file.write_text(PROGRAM)
    return file


@pytest.fixture
def command(program: Path) -> list[str]:
    return [sys.executable, str(program)]
