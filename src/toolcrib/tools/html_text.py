"""The text of a web page, without what only a browser needs."""

import re
from html.parser import HTMLParser

_UNSEEN = frozenset(["script", "style", "noscript", "template", "svg"])
_BLOCKS = frozenset(
    "address article blockquote br dd div dl dt figure footer form h1 h2 h3 h4 h5 h6 header hr li "
    "main nav ol p pre section table td th title tr ul".split()
)


def html_to_text(html: str) -> str:
    """The text that a reader sees, one block a line; no blank lines."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.parts).split("\n"))
    return "\n".join(line for line in lines if line)


class _Text(HTMLParser):
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
