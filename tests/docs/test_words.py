"""What is written here holds: links lead somewhere, the error tree is drawn as it stands, and
no file speaks of the machine it was written on."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from pkgutil import iter_modules
from urllib.parse import unquote

import pytest

import toolcrib

ROOT = Path(__file__).parents[2]
ERRORS = ROOT / "src" / "toolcrib" / "errors.py"

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
OWN_FILE = re.compile(r"`((?:\w+/)+\w+\.py)`")
BRANCH = re.compile(r"^    (?P<indent>[│├└─ ]*)(?P<name>[A-Z]\w+)(?: {2,}\S.*)?$", re.MULTILINE)

# In pieces, so that this file does not hold what it looks for.
FOREIGN = [
    "/".join(pieces)
    for pieces in [
        ("", "work", ""),
        ("..", "shared"),
        ("shared", "notes"),
        ("shared", "bench"),
        ("", "root", ""),
        ("", "opt", "pypi"),
    ]
]

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def prose(page: Path) -> str:
    """The text of a page without its blocks of code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The names that a page's headings can be linked by."""
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(prose(page)))
    return {heading.replace(" ", "-") for heading in plain}


def relative_links(page: Path) -> Iterator[tuple[Path, str]]:
    for link in LINK.findall(prose(page)):
        path, _, anchor = unquote(link).partition("#")
        if not re.match(r"[a-z]+:", path):
            yield (page.parent / path if path else page), anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path):
    for target, anchor in relative_links(page):
        assert target.exists(), f"{page.name} links to {target}, which is not there"
        assert not anchor or anchor in anchors(target), f"{target} has no heading #{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_files_that_are_named_are_there(page: Path):
    # The first tells of what was, too, the other of what others have.
    if page.name not in ("CHANGELOG.md", "compare.md"):
        places = (ROOT, ROOT / "src", ROOT / "src" / "toolcrib")
        named = OWN_FILE.findall(prose(page))
        assert [file for file in named if not any((at / file).exists() for at in places)] == []


def test_the_tree_is_drawn_as_it_stands():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = page.partition("## The flow is the tree")[2].split("```")[1]
    names = re.findall(r"^(\w+)(?:/|\.py)", drawn, re.MULTILINE)
    assert sorted(names) == sorted(module.name for module in iter_modules(toolcrib.__path__))


def drawn_parents(tree: str) -> dict[str, str | None]:
    """Error → the error it hangs from, as drawn: an error hangs from the last one less indented."""
    path: list[tuple[int, str]] = []
    parents: dict[str, str | None] = {}
    for branch in BRANCH.finditer(tree):
        depth = len(branch["indent"])
        path = [*((level, name) for level, name in path if level < depth), (depth, branch["name"])]
        parents[branch["name"]] = path[-2][1] if len(path) > 1 else None
    return parents


def defined_parents(module: ast.Module) -> dict[str, str | None]:
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    names = {node.name for node in classes}
    bases = {node.name: [ast.unparse(base) for base in node.bases] for node in classes}
    return {name: next((base for base in bases[name] if base in names), None) for name in bases}


def test_the_error_tree_is_drawn_as_it_is_defined():
    module = ast.parse(ERRORS.read_text(encoding="utf-8"))
    drawn = drawn_parents(ast.get_docstring(module, clean=False) or "")
    assert drawn == defined_parents(module)


def files() -> list[Path]:
    """Every file that is, or is about to be, in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    paths = [ROOT / name.decode() for name in listed.stdout.split(b"\0") if name]
    return [path for path in paths if path.is_file()]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout: no list of files")
def test_no_file_speaks_of_the_machine_it_was_written_on():
    words = [word.encode() for word in FOREIGN]
    found = [
        f"{path.relative_to(ROOT)}: {word.decode()}"
        for path in files()
        for word in words
        if word in path.read_bytes()
    ]
    assert not found
