"""Writes docs/llms.txt: every page of the documentation with its task, for models to read.

python scripts/write_llms.py [--check]
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "llms.txt"
HEAD = """# Toolcrib

> Give an agent thousands of tools, and show it only the few it needs.

A Python library (`from toolcrib import Crib`), an MCP gateway (`toolcrib serve`)
and commands (`toolcrib`). It works offline, without an API key. What api.md names is promised.
"""
ROOMS = {
    "start": "Start",
    "tutorials": "Tutorials",
    "guide": "Guides",
    "": "Reference",
    "protocol": "Protocol",
}
TASK = re.compile(r"\*\*Your task\*\*: (.+?)(?:\n\n|\Z)", re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def written() -> str:
    """The text. Records of decisions are left out: they tell no user what to do."""
    rooms = (_room(name, sorted((DOCS / name).glob("*.md"))) for name in ROOMS)
    return HEAD + "".join(rooms)


def _room(name: str, pages: Sequence[Path]) -> str:
    return f"\n## {ROOMS[name]}\n\n" + "".join(map(_line, pages))


def _line(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    title = text.partition("\n")[0].removeprefix("# ")
    task = TASK.search(text)
    words = " ".join(LINK.sub(r"\1", task[1]).split()) if task else ""
    place = f"- [{title}]({page.relative_to(DOCS).as_posix()})"
    return f"{place}: {words}\n" if words else f"{place}\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != written())
    PAGE.write_text(written(), encoding="utf-8")
