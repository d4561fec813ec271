"""Whose reply an unreadable line is: so that one call fails now and not at its deadline."""

import re

_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,')
_LAST = re.compile(rb',\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


def reply_id(line: bytes) -> int | None:
    """The id of the request, where it stands first or last in the line; else None."""
    found = _FIRST.match(line) or _LAST.search(line[-256:])
    return int(found[1]) if found else None
