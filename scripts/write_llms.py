"""Writes docs/llms.txt: every page of the documentation with its task, for models to read.

python scripts/write_llms.py [--check]
"""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "llms.txt"
HEAD = "# Toolcrib\n\n> Give an agent thousands of tools, and show it only the few it needs.\n"
TASK = re.compile(r"\*\*Your task\*\*: (.+?)(?:\n\n|\Z)", re.DOTALL)


def written() -> str:
    """The text. Records of decisions are left out: they tell no user what to do."""
    pages = [each for each in sorted(DOCS.rglob("*.md")) if "decisions" not in each.parts]
    return f"{HEAD}\n## Pages\n\n" + "".join(map(_line, pages))


def _line(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    title = text.partition("\n")[0].removeprefix("# ")
    task = TASK.search(text)
    said = f": {' '.join(task[1].split())}" if task else ""
    return f"- [{title}]({page.relative_to(DOCS).as_posix()}){said}\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != written())
    PAGE.write_text(written(), encoding="utf-8")
