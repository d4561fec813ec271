"""What the page of troubleshooting names is there: codes of errors, and words of messages."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
CODES = sorted(
    {
        code
        for row in re.findall(r"^\| (.*?) \|", PAGE, re.MULTILINE)
        for code in re.findall(r"`([a-z]+(?:_[a-z]+)+)`", row)
    }
)


@pytest.mark.parametrize("code", CODES)
def test_a_code_or_tool_that_one_sees_is_documented(code: str):
    told = ("errors.md", "guide/daemon.md", "guide/gateway.md", "guide/calling.md")
    pages = [(ROOT / "docs" / page).read_text(encoding="utf-8") for page in told]
    assert any(f"`{code}`" in page for page in pages)


def test_every_row_says_what_to_do():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    assert rows
    assert [row for row in rows if len([cell for cell in row.split(" | ") if cell]) != 3] == []


def source() -> str:
    files = (ROOT / "src" / "toolcrib").rglob("*.py")
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def test_messages_are_those_of_the_program():
    text = source()
    parts = [
        "Nothing fits. Say it in other words",
        "seems damaged",
        "is not trusted",
        "is not there",
    ]
    parts += ["installing", "connection_lost", "install it: pip install"]
    assert [part for part in parts if part not in text] == []
