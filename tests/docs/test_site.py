"""The parts that the site is made of are complete and fresh."""

import re
from pathlib import Path

from scripts.write_llms import PAGE, written

ROOT = Path(__file__).parents[2]


def test_the_list_for_models_is_fresh():
    assert PAGE.read_text(encoding="utf-8") == written(), "run scripts/write_llms.py"


def test_every_page_of_the_site_is_there():
    pages = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert pages
    assert [page for page in pages if not (ROOT / "docs" / page).exists()] == []


def test_the_index_of_examples_is_complete():
    listed = re.findall(r"^\| \[(\S+)\]", (ROOT / "examples/README.md").read_text(), re.MULTILINE)
    there = [path.name for path in (ROOT / "examples").iterdir() if path.suffix in (".py", ".mjs")]
    assert sorted(listed) == sorted(there)
