"""Packages that others ask for too: what needs a certain version says so when it is used."""

import re
from importlib.metadata import PackageNotFoundError, version

from toolcrib.errors import ConfigError


def require_package(name: str, first: str, below: str, user: str) -> None:
    """Return if a version from `first` up to `below` is installed. Raises `ConfigError`."""
    try:
        found = version(name)
    except PackageNotFoundError:
        found = "none"
    if not _number(first) <= _number(found) < _number(below):
        remedy = "give Toolcrib an environment of its own, or take out what wants another"
        wanted = f"{user} needs {name}>={first},<{below}, and {found} is installed"
        raise ConfigError(f"{wanted}; {remedy}. Functions need none of it")


def _number(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)[:2]))
