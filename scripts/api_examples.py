"""Examples of the promised names, out of what the tests run: blocks of the guides, and examples/.

A name has the shortest statement that calls it, with the page that it is from. Whoever reads the
API sees how a thing is used, and none of it was written for the page of the API.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```python[^\n`]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
OWNERS = {
    "crib": "Crib",
    "crib.index": "CribIndex",
    "crib.operator": "Operator",
    "session": "Session",
}
"""What the guides call an object, and the class that it is of."""
MOST_LINES = 6
MOST_COLUMNS = 96
STATEMENTS = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return, ast.Assert)


@dataclass(frozen=True, order=True)
class Example:
    """A statement that a test runs. The best is the least: no assertion, short, early."""

    is_assertion: bool
    lines: int
    length: int
    page: str
    text: str


@cache
def examples() -> dict[str, Example]:
    """Name → its example. Methods are named with their class: `Crib.search`."""
    best: dict[str, Example] = {}
    for page in sources():
        for name, example in _in_page(page):
            best[name] = min(example, best.get(name, example))
    return best


def sources() -> list[Path]:
    pages = (*DOCS.rglob("*.md"), *(ROOT / "examples").glob("*.py"))
    return sorted(page for page in pages if page.name != "api.md" and "decisions" not in page.parts)


def _in_page(page: Path) -> Iterator[tuple[str, Example]]:
    text = page.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text) if page.suffix == ".md" else [text]
    imported = {name for block in blocks for name in _imported(ast.parse(block))}
    place = page.relative_to(DOCS) if page.suffix == ".md" else Path("..") / page.relative_to(ROOT)
    for block in blocks:
        for statement in ast.walk(ast.parse(block)):
            if isinstance(statement, STATEMENTS):
                shown = _shown(block, statement)
                lines = shown.splitlines()
                if len(lines) <= MOST_LINES and max(map(len, lines)) <= MOST_COLUMNS:
                    kind = isinstance(statement, ast.Assert)
                    example = Example(kind, len(lines), len(shown), place.as_posix(), shown)
                    yield from ((name, example) for name in _called(statement, imported))


def _imported(module: ast.Module) -> Iterator[str]:
    for each in ast.walk(module):
        if isinstance(each, ast.ImportFrom) and (each.module or "").startswith("toolcrib"):
            yield from (alias.name for alias in each.names)


def _called(statement: ast.stmt, imported: set[str]) -> Iterator[str]:
    for each in ast.walk(statement):
        match each:
            case ast.Call(ast.Name(name)) if name in imported:
                yield name
            case ast.Attribute(owner, method) if ast.unparse(owner) in OWNERS:
                yield f"{OWNERS[ast.unparse(owner)]}.{method}"
            case ast.Attribute(ast.Name(name), method) if name in imported:
                yield f"{name}.{method}"
            case _:
                pass


def _shown(block: str, statement: ast.stmt) -> str:
    """The statement as it is written, from the edge."""
    first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
    lines = [line[statement.col_offset :] for line in block.splitlines()[first:last]]
    return "\n".join(lines)
