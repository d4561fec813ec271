"""Takes a server's secrets out of whatever the server says, before anybody sees it.

A server that is asked something may answer with what it was given: an error that repeats a header,
a help page that lists the environment. `Redactor` replaces each secret by `***`, as it is and in
the encodings that such text is usually found in. Which values are secrets is not decided here: see
`sources/mcp/config/secret_values.py`.
"""

import base64
import html
import json
import logging
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, quote_plus

from toolcrib.model import Json

REDACTED = "***"
SHORTEST_SECRET = 6
"""What is shorter stands in too many words by chance."""


class Redactor:
    """For one server. It may learn more secrets as it goes: tokens are renewed."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: frozenset[str] = frozenset()
        self._spellings: tuple[str, ...] = ()
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        """Hide these from now on as well; those that are too short are left out."""
        new = {each for each in secrets if len(each) >= SHORTEST_SECRET} - self._known
        if new:
            self._known |= new
            every = {spelling for secret in self._known for spelling in _spellings(secret)}
            self._spellings = tuple(sorted(every, key=len, reverse=True))

    def text(self, text: str) -> str:
        """The text without the secrets, in whatever usual spelling; the longest go first."""
        for spelling in self._spellings:
            if spelling in text:
                text = text.replace(spelling, REDACTED)
        return text

    def by_line(self) -> "Redactor":
        """One that hides each line of these secrets too, for texts that come line by line."""
        lines = (line.strip() for secret in self._known for line in secret.splitlines())
        return Redactor((*self._known, *lines))

    def json(self, value: Json) -> Json:
        """The same for every text within, keys and numbers included; the value itself if clean."""
        if not self._spellings:
            return value
        every = "\n".join(_leaves(value))
        return self._cleaned(value) if self.text(every) != every else value

    def _cleaned(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self._cleaned(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._cleaned(each) for each in value]
        return value if self.text(str(value)) == str(value) else REDACTED

    @contextmanager
    def over_logs(self, *names: str) -> Generator[None]:
        """Meanwhile, hide the secrets in whatever these loggers say too."""
        loggers = [logging.getLogger(name) for name in names]
        for logger in loggers:
            logger.addFilter(self._hide)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeFilter(self._hide)

    def _hide(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if (clean := self.text(message)) != message:
            record.msg, record.args = clean, ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self.text(record.exc_text)
        return True


def _leaves(value: Json) -> Iterator[str]:
    waiting: list[Any] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            yield from each
            waiting += each.values()
        elif isinstance(each, list | tuple):
            waiting += each
        else:
            yield str(each)


def _spellings(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    yield secret
    yield from (raw.hex(), raw.hex().upper())
    for quoted in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield from (quoted, _lower_escapes(quoted))
    for escaped in (json.dumps(secret), json.dumps(secret, ensure_ascii=False)):
        yield from (escaped[1:-1], escaped[1:-1].replace("/", r"\/"))
    yield from (html.escape(secret), html.escape(secret, quote=False))
    for before in range(3):
        yield from _base64(raw, before)


def _base64(raw: bytes, before: int) -> Iterator[str]:
    """What base64 makes of it after so many other bytes, less the letters that depend on others."""
    first, whole = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
    encoded = base64.b64encode(bytes(before) + raw).decode()[first:whole]
    if len(encoded) >= SHORTEST_SECRET:
        yield from (encoded, encoded.translate(str.maketrans("+/", "-_")))


def _lower_escapes(quoted: str) -> str:
    pieces = quoted.split("%")
    return "%".join([pieces[0], *(each[:2].lower() + each[2:] for each in pieces[1:])])
