"""What Toolcrib runs on."""

import platform
from collections.abc import Iterator
from importlib.metadata import version

from toolcrib.cli.checks.finding import Finding, Patient
from toolcrib.store import OLDEST_SQLITE, sqlite_version

AREA = "machine"


def check_machine(_patient: Patient | None = None) -> Iterator[Finding]:
    """The versions that matter."""
    system = f"{platform.system()} {platform.machine()}"
    python = platform.python_version()
    yield Finding(AREA, "ok", f"toolcrib {version('toolcrib')}, Python {python}, {system}")
    sqlite = sqlite_version()
    if tuple(map(int, sqlite.split("."))) < OLDEST_SQLITE:
        message = f"SQLite {sqlite} may damage a catalog that several processes write"
        yield Finding(AREA, "problem", message, "pip install --upgrade apsw")
    else:
        yield Finding(AREA, "ok", f"SQLite {sqlite}")
