"""What form a query has. Free text is the rule; the other forms say exactly what is meant.

select:read_file,write_file    these, by name
+slack send                    "slack" has to be in the name; rank by the rest
/create.*issue/                a pattern over names and descriptions
(nothing)                      browse
"""

import re
from dataclasses import dataclass
from typing import TypeAlias

LONGEST_QUERY = 4096
MOST_SELECTED = 50

_SELECT = re.compile(r"select\s*:", re.IGNORECASE)
_REQUIRED = re.compile(r"\+([^\W\d_][^\s,;]*)")
_WRAPPING = " \t\r\n\"'`“”‘’「」《》.,;:!?()[]{}<>*，。；：！？"


@dataclass(frozen=True, slots=True)
class BrowseQuery:
    """Nothing was asked."""


@dataclass(frozen=True, slots=True)
class SelectQuery:
    """These names, in this order, each once."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RequiredQuery:
    """All of these have to be in the name, in lower case; `rest` ranks what is left."""

    parts: tuple[str, ...]
    rest: str


@dataclass(frozen=True, slots=True)
class PatternQuery:
    """A regular expression."""

    pattern: str


@dataclass(frozen=True, slots=True)
class FreeQuery:
    """Words, in any language."""

    text: str


QueryForm: TypeAlias = BrowseQuery | SelectQuery | RequiredQuery | PatternQuery | FreeQuery


def parse_query(text: str) -> QueryForm:
    """The form of a query: whatever it is, it has one. Only its first 4,096 characters count."""
    text = text[:LONGEST_QUERY].strip()
    if not text:
        return BrowseQuery()
    if prefix := _SELECT.match(text):
        return _select(text[prefix.end() :])
    if len(text) > 2 and text.startswith("/") and text.endswith("/"):  # noqa: PLR2004 - the slashes
        return PatternQuery(text[1:-1])
    return _required(text) or FreeQuery(text)


def unwrapped(text: str) -> str:
    """A text without quotes and punctuation around it; as it was if it is only those."""
    return text.strip(_WRAPPING) or text


def _select(names: str) -> QueryForm:
    selected = tuple(
        dict.fromkeys(filter(None, (unwrapped(name).strip() for name in names.split(","))))
    )
    return SelectQuery(selected[:MOST_SELECTED]) if selected else BrowseQuery()


def _required(text: str) -> RequiredQuery | None:
    """A form with `+word` in it, if the word starts with a letter: +1 and C++ are text."""
    if "+" not in text:
        return None
    tokens = text.split()
    matches = {token: _REQUIRED.fullmatch(token) for token in tokens}
    parts = dict.fromkeys(match.group(1).lower() for match in matches.values() if match)
    rest = " ".join(token for token in tokens if not matches[token])
    return RequiredQuery(tuple(parts), rest) if parts else None
