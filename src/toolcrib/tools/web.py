"""Read the web."""

from typing import Annotated, TypedDict

from pydantic import Field

from toolcrib.tools.html_text import html_to_text

_TEXTUAL = ("text/", "application/json", "application/xml", "application/javascript")


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
    from toolcrib.tools.egress import fetch  # noqa: PLC0415 - httpx is slow to load, seldom needed

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
