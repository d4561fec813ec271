"""Modules of functions, and a tools.yaml that describes them, as an operator names them."""

from pathlib import Path
from types import ModuleType

import pytest

from toolcrib.crib import Crib
from toolcrib.errors import DeclarationError, NameTaken, SourceError
from toolcrib.settings import Settings
from toolcrib.sources import FunctionSource, add_module, public_functions
from toolcrib.sources.function_source import Description

MODULE = """
from os import getcwd
from toolcrib import tool


def look_up(query: str) -> str:
    return query


@tool(permission_kind="read")
def shout(text: str) -> str:
    return text.upper()


def plumbing() -> None: ...
"""
# The shape that the declarations of a program had that we are made for: no `function:`.
TOOLS_YAML = """
look_up:
  available: true
  searchable: true
  category: information
  tags: [web, internet]
  display:
    en: Look Up
    zh-CN: 查找
  desc:
    en: Find pages about something
    zh-CN: 查找有关网页
  platforms: all
  required: false
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "functions_of_mine.py"
    path.write_text(MODULE)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tools.yaml"
    path.write_text(TOOLS_YAML, encoding="utf-8")
    return path


def settings(**others: object) -> Settings:
    quiet = {"store": ":memory:", "builtin_tools": False, "plugins": False}
    return Settings.model_validate({**quiet, "embed": {"embedder": "none"}, **others})


def test_those_that_are_marked_or_described_are_tools(module: Path):
    source = FunctionSource()
    source.describe("look_up", Description("f:", {"category": "web"}))
    add_module(source, str(module))
    assert [each.name for each in source.capabilities()] == ["look_up", "shout"]


def test_a_module_is_found_by_name_too(module: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(module.parent)
    source = FunctionSource()
    add_module(source, module.stem)
    assert [each.name for each in source.capabilities()] == ["shout"]


@pytest.mark.parametrize("reference", ["no.such.module", "no_such.py", "json"])
def test_a_module_without_tools_is_named(reference: str):
    with pytest.raises(SourceError, match=reference):
        add_module(FunctionSource(), reference)


def test_declarations_describe_what_a_program_adds(file: Path):
    def look_up(query: str) -> str:
        return query

    with Crib.from_settings(settings(tools=[file])) as crib:
        assert list(crib.entries()) == []
        assert "look_up: no function of this name was added" in crib.problems[0]
        crib.add(look_up)
        assert crib.problems == ()
        (found,) = crib.search("查找有关网页").hits
        assert (found.name, crib.get("look_up").capability.title) == ("look_up", "Look Up")


def test_declarations_describe_the_functions_of_a_module(file: Path, module: Path):
    with Crib.from_settings(settings(tools=[file], tool_modules=[str(module)])) as crib:
        assert set(crib.entries()) == {"look_up", "shout"}
        assert crib.get("look_up").capability.category == "information"
        assert crib.problems == ()


def imported(text: str, name: str = "my_tools") -> ModuleType:
    module = ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
    return module


PUBLIC = """
from json import dumps
from toolcrib import tool

def one(n: int) -> int:
    "The first."
    return n

@tool(permission_kind="dangerous", name="second")
async def two() -> str:
    "The second."
    return "two"

def _hidden(): pass

class Thing:
    "No tool."
"""


def test_every_public_function_of_a_module_is_added_and_labelled_by_it():
    crib = Crib(settings())
    added = crib.add_all(imported(PUBLIC), permission_kind="read", tags=["mine"])
    shown = [(each.name, each.permission_kind, each.tags, each.module) for each in added]
    assert shown == [
        ("one", "read", ("mine",), "my_tools"),
        ("second", "dangerous", ("mine",), "my_tools"),
    ]
    assert sorted(crib.entries()) == ["one", "second"]


def test_a_module_says_itself_what_is_public():
    text = PUBLIC + "__all__ = ['dumps', '_hidden']\n_hidden.__doc__ = 'Hidden, and offered.'\n"
    source = public_functions(imported(text), {})
    assert [each.info.name for each in source] == ["dumps", "_hidden"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no public function"),
        ("from json import dumps", "no public function"),
        (PUBLIC + "def mute(): pass\ndef quiet(): pass\n", "mute, quiet has no docstring"),
    ],
)
def test_a_module_that_cannot_be_added_says_why_and_adds_nothing(text: str, told: str):
    crib = Crib(settings())
    with pytest.raises(DeclarationError, match=told):
        crib.add_all(imported(text))
    assert not crib.entries()


def test_what_is_no_module_is_told_and_a_taken_name_adds_nothing():
    crib = Crib(settings())
    with pytest.raises(DeclarationError, match="import my_tools"):
        crib.add_all("my_tools")  # type: ignore[arg-type]
    crib.add(lambda: 1, name="second")
    with pytest.raises(NameTaken, match="second"):
        crib.add_all(imported(PUBLIC))
    assert list(crib.entries()) == ["second"]
