"""The page of the API has every promised name, and nothing in the docs imports any other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from scripts.api_page import PLACES, TOPICS, promised
from tests.public_names import ADAPTERS
from tests.public_names import PLACES as PROMISED

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
SETTINGS = "toolcrib.settings"  # its sections are promised, and described in docs/settings.md

_BLOCK = re.compile(r"^( *)```(?:python|py)\b[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def imports(code: str) -> Iterator[tuple[str, str]]:
    """What a piece of code imports of ours: module and name."""
    for node in ast.walk(ast.parse(dedent(code))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("toolcrib"):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            ours = (alias.name for alias in node.names if alias.name.startswith("toolcrib"))
            yield from ((name, "") for name in ours)


def is_promised(module: str, name: str) -> bool:
    if module == SETTINGS:
        return name in promised(SETTINGS) and name.endswith("Settings")
    return module in {"toolcrib", *PLACES} and name in promised(module)


def unpromised(code: str) -> list[tuple[str, str]]:
    return [each for each in imports(code) if not is_promised(*each)]


def test_each_promised_name_has_its_place_on_the_page():
    assert sorted(" ".join(TOPICS.values()).split()) == promised("toolcrib")


@pytest.mark.parametrize("module", ["toolcrib", *PLACES])
def test_every_promised_name_is_on_the_page(module: str):
    missing = [name for name in promised(module) if f"\n### {name}\n" not in PAGE]
    assert missing == []


def test_the_page_and_the_closure_speak_of_the_same_modules():
    adapters = {f"toolcrib.adapters.{name}" for name in ADAPTERS}
    assert {"toolcrib", *PLACES} == {*PROMISED, *adapters}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_imports_what_is_not_promised(page: Path):
    blocks = [block for _, block in _BLOCK.findall(page.read_text(encoding="utf-8"))]
    assert [each for block in blocks for each in unpromised(block)] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_no_example_imports_what_is_not_promised(example: Path):
    assert unpromised(example.read_text(encoding="utf-8")) == []


def test_an_import_of_what_may_move_is_found():
    assert unpromised("from toolcrib import Crib\nfrom toolcrib.pool import Pool") == [
        ("toolcrib.pool", "Pool")
    ]
