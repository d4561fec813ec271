"""Which tools a pattern of the operator means: by source and own name, whatever they are called.

    google_drive/delete_file        one tool of one source; with wildcards, `google_drive/*`
    mcp:google_drive/delete_file    the same, where an MCP server and an app share an id
    my_tools/delete_file            a function of a program, by its module; or `builtin/delete_file`
    mcp_google_drive_delete_file    as models see it, which could be `drive_delete_file` of `google`
    mcp__google__delete_file        as other hosts of MCP servers write it; `mcp__google`: all of it

So the last forms have two meanings. What takes away (`bars`) fits on any reading. What gives
(`grants`) fits only the source that the pattern spells out, of several the one with the longest id;
a pattern that spells out none has to begin with a wildcard before the id (`*`, `mcp_*`).

`may_mean` says of a whole group of entries what its source alone can tell.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import get_args

from toolcrib.model import Capability, Entry, EntryTraits, SourceKind
from toolcrib.names.origin import SHORTEST_CUT, Origin, Spellings

_WILD = re.compile(r"[*?\[]")
DOUBLE = "mcp__"
LONGEST_DOUBLE = 1_000
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
    spellings = _spellings(_origin(entry))
    texts = (entry.name, *spellings.every)
    return (
        f"{pattern}__" in spellings.double
        or any(fnmatchcase(text, pattern) for text in texts)
        or any(
            _fits(pattern[:at], pattern[at + 1 :], entry)
            for at, sign in enumerate(pattern)
            if sign == "/"
        )
    )


def grants(pattern: str, entry: Entry) -> bool:
    """Whether a pattern that gives something is about this entry, and cannot mean another's."""
    if "/" in pattern:
        source, _, bare = pattern.partition("/")
        return _fits(source, bare, entry)
    origin = _origin(entry)
    spellings = _spellings(origin)
    if pattern.startswith(DOUBLE) and spellings.double:
        return _grants_double(pattern, spellings, entry)
    spelt_out = pattern.startswith(spellings.stems) or origin.kind_stem.startswith(
        literal_part(pattern)
    )
    if not spelt_out or pattern.startswith(entry.overlaps):
        return False
    written = any(fnmatchcase(text, pattern) for text in spellings.exact)
    return written or pattern in spellings.given


def _grants_double(pattern: str, spellings: Spellings, entry: Entry) -> bool:
    """The same of a pattern that is written with two `_`.

    Where the tool's part of it could be read as the end of a longer id, it is taken to be that.
    """
    literal = literal_part(pattern)
    if f"{pattern}__" in spellings.double or pattern in spellings.given:
        return "__" not in pattern.removeprefix(DOUBLE)
    spelt_out = literal == DOUBLE or any(
        pattern.startswith(stem) and "__" not in f"_{literal[len(stem) :]}"
        for stem, ours in zip(spellings.double, spellings.stems, strict=True)
        if ours not in entry.overlaps  # else it is the id of another source, as that is written
    )
    return spelt_out and any(fnmatchcase(text, pattern) for text in spellings.called)


def is_called(name: str, entry: Entry) -> bool:
    """Whether an entry is called so with its source: `github/create_issue`, or as other hosts do.

    These write `mcp__github__create_issue`. A name has no wildcards.
    """
    source, slash, bare = name.partition("/")
    if slash and bare == entry.bare and not has_wildcard(source):
        return _fits_source(source, entry)
    return name.startswith(DOUBLE) and name in _spellings(_origin(entry)).called


def bare_parts(name: str) -> Iterator[str]:
    """What the tool's own name may be in such a name: all of its ends; none of one without end."""
    if "/" in name:
        yield name.partition("/")[2]
    is_double = name.startswith(DOUBLE) and len(name) <= LONGEST_DOUBLE
    at = name.find("__", len(DOUBLE)) if is_double else -1
    while at >= 0:
        yield name[at + 2 :]
        at = name.find("__", at + 1)


def may_mean(pattern: str, traits: EntryTraits) -> bool:
    """Whether a pattern may be about an entry with these traits, on any reading.

    Entries are named as the pool names them: each name begins with a stem of its source, unless
    that is so long that it was cut.
    """
    literal = literal_part(pattern)
    begins = f"{literal}__" if pattern.startswith(DOUBLE) else literal
    return any(
        begins.startswith(stem) or (has_wildcard(pattern) and stem.startswith(literal))
        for stem in (each[:SHORTEST_CUT] for each in name_stems(traits))
    ) or any(_fits_source(pattern[:at], traits) for at, sign in enumerate(pattern) if sign == "/")


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
    """How the names of entries with these traits begin: with two `_`, as configured, legally."""
    spellings = _spellings(Origin.of(traits, "any"))
    return (*spellings.double, *spellings.stems)


@lru_cache(maxsize=1 << 16)
def _spellings(origin: Origin) -> Spellings:
    return origin.spellings()


@lru_cache(maxsize=1 << 12)
def literal_part(pattern: str) -> str:
    """The pattern up to its first wildcard."""
    return pattern[: found.start()] if (found := _WILD.search(pattern)) else pattern
