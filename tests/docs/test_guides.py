"""Every guide begins with the reader's task and says it in short sentences."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.test_words import prose

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = [
    page for room in ("guide", "start", "tutorials") for page in sorted((DOCS / room).glob("*.md"))
]
OPENING_LINES = 30
MOST_WORDS = 40

COPYABLE = re.compile(r"^(```\w+|    \S)", re.MULTILINE)
NOT_A_SENTENCE = re.compile(r"\s*(\||#|<!--|    \S)")
LINK_TARGET = re.compile(r"\]\([^)]*\)")
PARAGRAPH_END = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")
SENTENCE_END = re.compile(r"(?<=[.!?:;])[)\"*]* +(?=[A-Z`*\[\"(])")

every_guide = pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)


def sentences(guide: Path) -> Iterator[str]:
    lines = [line for line in prose(guide).splitlines() if not NOT_A_SENTENCE.match(line)]
    for paragraph in PARAGRAPH_END.split(LINK_TARGET.sub("]", "\n".join(lines))):
        yield from SENTENCE_END.split(" ".join(paragraph.split()))


@every_guide
def test_it_begins_with_the_task_and_a_block_to_copy(guide: Path):
    opening = "\n".join(guide.read_text(encoding="utf-8").splitlines()[:OPENING_LINES])
    assert "\n\n**Your task**: " in opening
    assert COPYABLE.search(opening), "no block to copy on the first screen"


@every_guide
def test_its_sentences_are_short(guide: Path):
    assert [each for each in sentences(guide) if len(each.split()) > MOST_WORDS] == []
