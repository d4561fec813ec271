"""A page with commands and their outputs is walked through as it stands, on machines of its own."""

from pathlib import Path

import pytest

from scripts.walk import BLOCK, walk
from tests.docs.test_words import PAGES, ROOT


def consoles(page: Path) -> list[str]:
    blocks = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [block["text"] for block in blocks if block["language"] == "console"]


WALKED = [page for page in PAGES if consoles(page)]


@pytest.mark.parametrize("page", WALKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_everything_is_as_the_page_says(page: Path, tmp_path: Path):
    assert [str(each) for each in walk(page.read_text(encoding="utf-8"), tmp_path)] == []


def test_every_tutorial_is_walked_through():
    tutorials = {*(ROOT / "docs" / "tutorials").glob("*.md")}
    assert tutorials
    assert tutorials <= {*WALKED}


@pytest.mark.parametrize("page", WALKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_code_is_a_file_or_a_console(page: Path):
    """What a walk would leave out: only `sh`, for what installs packages."""
    blocks = BLOCK.finditer(page.read_text(encoding="utf-8"))
    loose = {block["language"] for block in blocks if not block["title"]} - {"console", "sh"}
    assert loose == set()
