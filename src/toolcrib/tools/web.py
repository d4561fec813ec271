"""Read the web: a page is fetched, and its HTML becomes the text that a reader sees."""

import re
from html.parser import HTMLParser
from typing import Annotated, TypedDict

from pydantic import Field

__all__ = ["WebPage", "fetch_url"]  # who adds this module gets one tool

_TEXTUAL = ("text/", "application/json", "application/xml", "application/javascript")
_UNSEEN = frozenset(["script", "style", "noscript", "template", "svg"])
_BLOCKS = frozenset(
    "address article blockquote br dd div dl dt figure footer form h1 h2 h3 h4 h5 h6 header hr li "
    "main nav ol p pre section table td th title tr ul".split()
)


class WebPage(TypedDict):
    """What is at an address. `url` is where the redirects ended."""

    url: str
    status: int
    content_type: str
    text: str
    truncated: bool


async def fetch_url(
    url: str,
    *,
    raw: bool = False,
    max_characters: Annotated[int, Field(ge=1, le=1_000_000)] = 50_000,
) -> WebPage:
    """Fetch a web page or another text from the internet and return its text.

    Addresses on this machine and on private networks are refused.

    Args:
        url: The http or https address.
        raw: Whether to return a web page as HTML, not as the text that a reader sees.
        max_characters: How much of the text to return at most.
    """
    from toolcrib.tools.http_client import fetch  # noqa: PLC0415 - httpx2 is slow to load, seldom needed

    page = await fetch(url)
    if page.content_type and not _is_text(page.content_type):
        raise ValueError(f"{page.url} is {page.content_type}, not text; nothing to read there")
    text = page.content.decode(page.encoding, errors="replace")
    if not raw and "html" in page.content_type:
        text = html_to_text(text)
    return WebPage(
        url=page.url,
        status=page.status,
        content_type=page.content_type,
        text=text[:max_characters],
        truncated=page.truncated or len(text) > max_characters,
    )


def _is_text(content_type: str) -> bool:
    return content_type.startswith(_TEXTUAL) or content_type.endswith(("+json", "+xml"))


def html_to_text(html: str) -> str:
    """The text that a reader sees, one block a line; no blank lines."""
    parser = _VisibleText()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.parts).split("\n"))
    return "\n".join(line for line in lines if line)


class _VisibleText(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._unseen = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the base asks so
        self._unseen = self._unseen or (tag if tag in _UNSEEN else "")
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        self._unseen = "" if tag == self._unseen else self._unseen
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(re.sub(r"\s+", " ", data))

    def _break(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n")
