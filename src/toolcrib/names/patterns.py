"""Which tools a pattern of the operator means: by source and own name, whatever they are called.

    google_drive/delete_file        one tool of one source; with wildcards, `google_drive/*`
    mcp:google_drive/delete_file    the same, where an MCP server and an app share an id
    my_tools/delete_file            a function of a program, by its module; or `builtin/delete_file`
    mcp_google_drive_delete_file    as models see it, which could be `drive_delete_file` of `google`

So the last form has two meanings. What takes away (`bars`) fits on any reading. What gives
(`grants`) fits only the source that the pattern spells out, of several the one with the longest id;
a pattern that spells out none has to begin with a wildcard before the id (`*`, `mcp_*`).
"""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import get_args

from toolcrib.model import Capability, Entry, SourceKind
from toolcrib.names.origin import Origin, Spellings

_WILD = re.compile(r"[*?\[]")
_KINDS = frozenset[str](get_args(SourceKind))


def any_bars(patterns: Iterable[str], entry: Entry) -> bool:
    """Whether one of the patterns that take something away may be about this entry."""
    return any(bars(pattern, entry) for pattern in patterns)


def any_grants(patterns: Iterable[str], entry: Entry) -> bool:
    """Whether one of the patterns that give something is about this entry."""
    return any(grants(pattern, entry) for pattern in patterns)


def bars(pattern: str, entry: Entry) -> bool:
    """Whether a pattern that takes something away is about this entry, on any reading."""
    texts = (entry.name, *_spellings(_origin(entry)).every)
    return any(fnmatchcase(text, pattern) for text in texts) or any(
        _fits(pattern[:at], pattern[at + 1 :], entry)
        for at, sign in enumerate(pattern)
        if sign == "/"
    )


def grants(pattern: str, entry: Entry) -> bool:
    """Whether a pattern that gives something is about this entry, and cannot mean another's."""
    if "/" in pattern:
        source, _, bare = pattern.partition("/")
        return _fits(source, bare, entry)
    origin = _origin(entry)
    spellings = _spellings(origin)
    spelt_out = pattern.startswith(spellings.stems) or origin.kind_stem.startswith(
        _literal(pattern)
    )
    if not spelt_out or pattern.startswith(entry.overlaps):
        return False
    written = any(fnmatchcase(text, pattern) for text in spellings.exact)
    return written or pattern in spellings.given


def source_names(what: Capability) -> Sequence[str]:
    """The names by which a pattern may mean the source: its id, else its kind.

    A function that a program has added is also meant by its module.
    """
    return [each for each in (what.source_id or what.source, what.module) if each]


def _fits(source: str, bare: str, entry: Entry) -> bool:
    """By source and own name. A `/` in the id of a source is written as `_`."""
    what = entry.capability
    kind, colon, id = source.partition(":")
    if colon and kind in _KINDS:
        if kind != what.source:
            return False
        source = id
    own = (each.replace("/", "_") for each in source_names(what))
    return fnmatchcase(entry.bare, bare) and any(fnmatchcase(each, source) for each in own)


def _origin(entry: Entry) -> Origin:
    return Origin.of(entry.capability, entry.bare)


@lru_cache(maxsize=1 << 16)
def _spellings(origin: Origin) -> Spellings:
    return origin.spellings()


@lru_cache(maxsize=1 << 12)
def _literal(pattern: str) -> str:
    """The pattern up to its first wildcard."""
    return pattern[: found.start()] if (found := _WILD.search(pattern)) else pattern
