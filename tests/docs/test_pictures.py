"""The pictures of the docs: each that is named is there and small, and none is there unnamed."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MOST_BYTES = 80 * 1024
PICTURE = re.compile(r"!\[([^\]]+)\]\(([^)]+)\)")


def named() -> dict[Path, str]:
    """Every picture of a page, by its path, with its words for those who do not see it."""
    return {
        (page.parent / place).resolve(): words
        for page in [ROOT / "README.md", *DOCS.rglob("*.md")]
        for words, place in PICTURE.findall(page.read_text(encoding="utf-8"))
        if "://" not in place
    }


def test_every_picture_that_is_named_is_there_and_small():
    assert named()
    for path, words in named().items():
        assert path.stat().st_size <= MOST_BYTES, path.name
        assert len(words) > 10, path.name


def test_every_picture_that_is_there_is_named():
    assert {*(DOCS / "images").iterdir()} <= set(named())
