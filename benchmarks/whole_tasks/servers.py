"""The servers of the tasks, which other people wrote, as an `mcpServers` file names them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.real_servers import Ground as Place
from benchmarks.real_servers import real_servers
from scripts import install_more_servers, install_test_servers

NAMES = ("fetch", "filesystem", "git", "memory", "sqlite", "time")


def installed_servers() -> Mapping[str, Mapping[str, Any]]:
    """Those that tasks need, by name, with `{work}` for the folder. Installs them first."""
    install_test_servers.install()
    install_more_servers.install()
    work = Path("{work}")
    found = real_servers(Place(work, work / "repo", "{site}"), large=False)
    entries = {each.name: dict(each.entry) for each in found if each.name in NAMES}
    entries["sqlite"] |= {"args": ["--db-path", str(work / "shop.db")]}
    return entries
