"""Looks at the built site as a browser without a network does.

Everything that a page loads is in the site, every link within it leads to a page and a heading that
are there. Links to other sites are for readers to follow; nothing follows them here.

python scripts/check_site.py [FOLDER]
"""

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "video": "src"}
RELATIONS = {"stylesheet", "icon", "preload", "preconnect", "modulepreload", "dns-prefetch"}
STYLE_URL = re.compile(r"url\(\s*[\"']?([^\"')]+)")
FOREIGN = re.compile(r"(?:https?:)?//")


class Page(HTMLParser):
    """What a page loads, what it links to, and where it can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.anchors |= {named[name] for name in ("id", "name") if name in named}
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        elif tag == "link" and RELATIONS & {*named.get("rel", "").split()}:
            self.loads.append(named.get("href", ""))
        elif LOADED.get(tag, "") in named:
            self.loads.append(named[LOADED[tag]])
        self.loads += STYLE_URL.findall(named.get("style", ""))


def problems(site: Path) -> Iterator[str]:
    """What is wrong with it, page by page."""
    for file in sorted(site.rglob("*.html")):
        name = file.relative_to(site)
        page = _page(file)
        for link in page.loads:
            yield from (f"{name} {problem}" for problem in _loading(file, link, site))
        for link in page.links:
            yield from (f"{name} {problem}" for problem in _linking(file, link, site))
    for file in sorted(site.rglob("*.css")):
        for link in STYLE_URL.findall(file.read_text(encoding="utf-8")):
            yield from (f"{file.relative_to(site)} {each}" for each in _loading(file, link, site))


def _loading(file: Path, link: str, site: Path) -> Iterator[str]:
    if FOREIGN.match(link):
        yield f"loads {link} from the network"
    elif not link.startswith("data:") and not _file(file, link, site).is_file():
        yield f"loads {link}, which is not there"


def _linking(file: Path, link: str, site: Path) -> Iterator[str]:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return
    target = _file(file, link, site)
    if not target.is_file():
        yield f"links to {link}, which is not there"
    elif parts.fragment and target.suffix == ".html" and not _has(target, parts.fragment):
        yield f"links to {link}, which has no such heading"


def _has(page: Path, fragment: str) -> bool:
    return unquote(fragment) in _page(page).anchors


def _file(page: Path, link: str, site: Path) -> Path:
    path = unquote(urlsplit(link).path)
    target = (site / path.lstrip("/") if path.startswith("/") else page.parent / path).resolve()
    if not path:
        return page
    return target / "index.html" if target.is_dir() else target


@cache
def _page(file: Path) -> Page:
    return Page(file.read_text(encoding="utf-8"))


def main(site: Path) -> int:
    found = [*problems(site)]
    print("\n".join(found) or f"{site}: nothing is missing, and nothing is loaded from elsewhere")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "site")))
