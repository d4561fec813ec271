"""The hook of the site: what pages link to outside of docs/ is in the site too, as its pages.

On GitHub such a link opens the file. Here a file that is Markdown becomes a page, any other one a
page with its text, under `repository/`. So every link leads somewhere without a network, and
`mkdocs build --strict` can hold all of them to it.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import relpath
from shutil import copy
from urllib.parse import unquote

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ROOM = "repository"
FENCE = re.compile(r"^(?P<fence>```|~~~).*?^(?P=fence)[ ]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()(?P<path>[^)\s#:]+)(?=[#)\s])")
LANGUAGES = {
    ".cfg": "text",
    ".conf": "nginx",
    ".mjs": "javascript",
    ".py": "python",
    ".service": "ini",
    ".toml": "toml",
    ".yaml": "yaml",
}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add a page for each file outside of docs/ that is linked to, by docs/ or by one of these."""
    waiting = [
        file for page in files.documentation_pages() for file in outside(_file_of(page.src_uri))
    ]
    while waiting:
        file = waiting.pop()
        if files.get_file_from_path(uri_of(file)) is None:
            files.append(File.generated(config, uri_of(file), content=text_of(file)))
            waiting += outside(file)
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """The page with its links to files outside of docs/ leading to their pages."""
    return with_links(markdown, page.file.src_uri)


def outside(file: Path) -> Iterator[Path]:
    """The files outside of docs/ that a page links to."""
    if file.suffix == ".md":
        for path in LINK.findall(FENCE.sub("", file.read_text(encoding="utf-8"))):
            target = _target(file, path)
            if not target.is_relative_to(DOCS) and target.exists():
                yield target


def uri_of(file: Path) -> str:
    """Where a file is in the site, as mkdocs names its sources."""
    if file.is_relative_to(DOCS):
        return file.relative_to(DOCS).as_posix()
    if file.is_dir():
        return f"{ROOM}/{file.relative_to(ROOT).as_posix()}/index.md"
    name = file.relative_to(ROOT).as_posix()
    return f"{ROOM}/{name}" if file.suffix == ".md" else f"{ROOM}/{name}.md"


def text_of(file: Path) -> str:
    name = file.relative_to(ROOT).as_posix()
    if file.is_dir():
        names = sorted(each.name for each in file.iterdir() if not each.name.startswith("_"))
        return f"# {name}\n\n" + "".join(f"- `{each}`\n" for each in names)
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        return text
    return f"# {name}\n\n~~~~{LANGUAGES.get(file.suffix, 'text')}\n{text}~~~~\n"


def on_post_build(*, config: MkDocsConfig) -> None:
    """Put the sources of the pages beside them: `llms.txt` leads models there."""
    for page in DOCS.rglob("*.md"):
        copy(page, Path(config.site_dir) / page.relative_to(DOCS))


def with_links(markdown: str, here: str) -> str:
    """The text of a page with its links as the site has them, but for those in its code."""
    code = [(fence.start(), fence.end()) for fence in FENCE.finditer(markdown)]

    def link(found: re.Match[str]) -> str:
        if any(start <= found.start() < end for start, end in code):
            return found[0]
        target = _target(_file_of(here), found["path"])
        is_ours = target.is_relative_to(ROOT) and target.exists()
        return relpath(uri_of(target), here.rpartition("/")[0] or ".") if is_ours else found[0]

    return LINK.sub(link, markdown)


def _target(page: Path, path: str) -> Path:
    """What a link of a file leads to. A folder is its README, where it has one."""
    target = Path(os.path.normpath(page.parent / unquote(path)))
    readme = target / "README.md"
    return readme if readme.is_file() else target


def _file_of(uri: str) -> Path:
    """The file that a page of the site is made of."""
    if not uri.startswith(f"{ROOM}/"):
        return DOCS / uri
    file = ROOT / uri.removeprefix(f"{ROOM}/")
    return file if file.exists() else file.with_suffix("")
