"""Every package has a front door: a story, a list of names, and each name behind it."""

import ast
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import toolcrib

ROOT = Path(toolcrib.__file__).parent
INNER = ("sources.apps", "sources.mcp", "store.postgres")
PUBLIC = "adapters"
"""No door of its own: it is one module a framework, each promised to users."""
TWINS = ("index/memory/", "index/sqlite/")
"""Two engines behind one protocol: what is alike in them has one name."""
TOP = sorted(path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name != PUBLIC)
DOORS = [*TOP, *INNER]


def door(name: str) -> ModuleType:
    return import_module(f"toolcrib.{name}")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def ours(module: str) -> bool:
    return module.startswith("toolcrib.") and module != "toolcrib.lazy"


def imported(statements: list[ast.stmt]) -> set[str]:
    return {
        alias.name
        for statement in statements
        if isinstance(statement, ast.ImportFrom)
        and (statement.module or "").startswith("toolcrib.")
        for alias in statement.names
    } - {"lazy_names"}


@pytest.mark.parametrize("name", DOORS)
def test_a_door_lists_its_names_and_each_is_there(name: str):
    package = door(name)
    assert package.__all__
    assert len(set(package.__all__)) == len(package.__all__)
    assert all(getattr(package, each) is not None for each in package.__all__)
    assert {*package.__all__} <= {*dir(package)}


@pytest.mark.parametrize("name", DOORS)
def test_what_a_type_checker_reads_at_a_door_is_what_it_lists(name: str):
    package = door(name)
    body = tree(Path(package.__file__ or "")).body
    lazy = [each for each in body if isinstance(each, ast.If)]
    statements = lazy[0].body if lazy else body
    defined = {each.name for each in body if isinstance(each, ast.FunctionDef)}
    assert imported(statements) >= {*package.__all__} - defined
    assert not lazy or imported(statements) == {*package.__all__}


@pytest.mark.parametrize("name", DOORS)
def test_no_name_of_a_door_is_also_a_module_behind_it(name: str):
    """Python puts an imported module under its own name, where it would hide the other."""
    folder = Path(door(name).__file__ or "").parent
    modules = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }
    assert not modules & {*door(name).__all__}


@pytest.mark.parametrize("name", DOORS)
def test_a_door_tells_what_happens_behind_it(name: str):
    lines = (door(name).__doc__ or "").strip().splitlines()
    assert 12 <= len(lines) <= 40, f"{len(lines)} lines"


def test_no_class_name_is_given_twice():
    names = Counter(
        node.name
        for path in ROOT.rglob("*.py")
        if not path.relative_to(ROOT).as_posix().startswith(TWINS)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
    )
    assert not [name for name, times in names.items() if times > 1]
