"""The glossary names every noun that a front door exports, and no noun that none does."""

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import toolcrib

PAGE = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
CODE = PAGE.partition("## Names in the code\n")[2]
INNER_DOORS = ("sources.mcp", "sources.apps", "store.postgres")
NOUN = re.compile(r"[A-Z]\w*[a-z]\w*")


def exported_nouns(door: str) -> list[str]:
    """The classes and types in a door's `__all__`; constants are written in capitals."""
    names: list[str] = getattr(import_module(door), "__all__", [])
    return sorted(name for name in names if NOUN.fullmatch(name))


def doors() -> dict[str, list[str]]:
    packages = [module.name for module in iter_modules(toolcrib.__path__) if module.ispkg]
    names = ["toolcrib", *(f"toolcrib.{package}" for package in (*packages, *INNER_DOORS))]
    return {name: nouns for name in names if (nouns := exported_nouns(name))}


def listed_nouns(door: str) -> list[str]:
    section = re.search(
        rf"^### `{re.escape(door)}`\n(.*?)(?=^### |\Z)", CODE, re.MULTILINE | re.DOTALL
    )
    return re.findall(r"^\| `(\w+)` \|", section[1], re.MULTILINE) if section else []


DOORS = doors()


@pytest.mark.parametrize("door", DOORS)
def test_the_nouns_of_a_door_are_listed(door: str):
    assert listed_nouns(door) == DOORS[door]


def test_no_other_door_is_listed():
    assert re.findall(r"^### `([\w.]+)`$", CODE, re.MULTILINE) == sorted(DOORS)
