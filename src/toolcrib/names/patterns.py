"""Which tools a pattern of the operator means: by source and own name, whatever they are called.

    google_drive/delete_file        one tool of one source; with wildcards, `google_drive/*`
    mcp:google_drive/delete_file    the same, where an MCP server and an app share an id
    my_tools/delete_file            a function of a program, by its module; or `builtin/delete_file`
    mcp_google_drive_delete_file    as models see it, which could be `drive_delete_file` of `google`

So the last form has two meanings. What takes away (`bars`) fits on any reading. What gives
(`grants`) fits only the source that the pattern spells out, of several the one with the longest id;
a pattern that spells out none has to begin with a wildcard before the id (`*`, `mcp_*`).

`may_bar` and `may_grant` say of a whole group of entries what its source alone can tell.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import get_args

from toolcrib.model import Capability, Entry, EntryTraits, SourceKind
from toolcrib.names.origin import SHORTEST_CUT, Origin, Spellings

_WILD = re.compile(r"[*?\[]")
_KINDS = frozenset[str](get_args(SourceKind))


def any_bars(patterns: Iterable[str], entry: Entry) -> bool:
    """Whether one of the patterns that take something away may be about this entry."""
    return any(bars(pattern, entry) for pattern in patterns)


def any_grants(patterns: Collection[str], entry: Entry) -> bool:
    """Whether one of the patterns that give something is about this entry."""
    if entry.name in patterns and grants(entry.name, entry):
        return True
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
        literal_part(pattern)
    )
    if not spelt_out or pattern.startswith(entry.overlaps):
        return False
    written = any(fnmatchcase(text, pattern) for text in spellings.exact)
    return written or pattern in spellings.given


def may_bar(pattern: str, traits: EntryTraits) -> bool:
    """Whether a pattern that takes something away may be about an entry with these traits.

    Entries are named as the pool names them: each name begins with a stem of its source, unless
    that is so long that it was cut.
    """
    literal = literal_part(pattern)
    return any(
        literal.startswith(stem) or stem.startswith(literal)
        for stem in (each[:SHORTEST_CUT] for each in name_stems(traits))
    ) or any(_fits_source(pattern[:at], traits) for at, sign in enumerate(pattern) if sign == "/")


def may_grant(pattern: str, traits: EntryTraits) -> bool:
    """Whether a pattern that gives something may be about an entry with these traits."""
    if "/" in pattern:
        return _fits_source(pattern.partition("/")[0], traits)
    kind_stem, literal = Origin.of(traits, "any").kind_stem, literal_part(pattern)
    return pattern.startswith(name_stems(traits)) or kind_stem.startswith(literal)


def source_names(what: Capability | Entry | EntryTraits) -> Sequence[str]:
    """The names by which a pattern may mean the source: its id, else its kind.

    A function that a program has added is also meant by its module.
    """
    return [each for each in (what.source_id or what.source, what.module) if each]


def has_wildcard(pattern: str) -> bool:
    """Whether a pattern may fit anything but itself."""
    return _WILD.search(pattern) is not None


def _fits(source: str, bare: str, entry: Entry) -> bool:
    """By source and own name."""
    return fnmatchcase(entry.bare, bare) and _fits_source(source, entry)


def _fits_source(source: str, what: Entry | EntryTraits) -> bool:
    """By source alone. A `/` in the id of a source is written as `_`."""
    kind, colon, id = source.partition(":")
    if colon and kind in _KINDS:
        if kind != what.source:
            return False
        source = id
    own = (each.replace("/", "_") for each in source_names(what))
    return any(fnmatchcase(each, source) for each in own)


def _origin(entry: Entry) -> Origin:
    return Origin.of(entry, entry.bare)


def name_stems(traits: EntryTraits) -> tuple[str, ...]:
    """How the names of entries with these traits begin: as it is configured, and legally."""
    return _spellings(Origin.of(traits, "any")).stems


@lru_cache(maxsize=1 << 16)
def _spellings(origin: Origin) -> Spellings:
    return origin.spellings()


@lru_cache(maxsize=1 << 12)
def literal_part(pattern: str) -> str:
    """The pattern up to its first wildcard."""
    return pattern[: found.start()] if (found := _WILD.search(pattern)) else pattern
