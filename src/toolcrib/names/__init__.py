"""Names of tools: how the pool makes them, and what a pattern of the operator means by one.

    Origin (kind of source, id of the source, own name) → name_all → the name that models see
    pattern of the operator (`github/delete_*`) + entry → bars, grants

origin      gives every capability a name that all providers accept: letters, digits, _ and -, at
            most 64. The name depends on the origin alone, never on what was loaded first
name_book   `NameBook`: who has which name, while origins come and go. Where two have the same name,
            both get a hash
source_stems  `SourceStems`: the sources whose names a name could be taken for
patterns    says whether a pattern is about an entry. What takes away (`bars`) fits on any reading;
            what gives (`grants`) fits only the source that the pattern spells out.
pattern_index  which of many patterns may be about a group of like entries

    mcp_github_create_issue      a tool of the MCP server `github`
    sdk_photos_resize            a tool of the app `photos`
    read_file                    a function of the program, or a tool that comes with Toolcrib

    mcp__github__create_issue    the same as other hosts write it: taken wherever a name is

A name is looked up and never taken apart: `mcp_google_drive_delete` could be a tool of `google` or
of `google_drive`. `overlaps` finds such cases when the pool is made, and patterns are matched by
origin. `RESERVED_NAMES` belong to Toolcrib's own tools.

It is not the place that resolves what a model called a tool: `toolcrib.pool` does. Who may see or
call a tool is said by `toolcrib.access`.
"""

from toolcrib.names.name_book import NameBook, name_all
from toolcrib.names.origin import RESERVED_NAMES, NameStems, Origin, allowed, reserved_message
from toolcrib.names.pattern_index import PatternIndex
from toolcrib.names.patterns import (
    any_bars,
    any_grants,
    bare_parts,
    bars,
    grants,
    has_wildcard,
    is_called,
    may_mean,
    name_stems,
    source_names,
)
from toolcrib.names.source_stems import SourceStems, overlaps, prefixes

__all__ = [
    "RESERVED_NAMES",
    "NameBook",
    "NameStems",
    "Origin",
    "PatternIndex",
    "SourceStems",
    "allowed",
    "any_bars",
    "any_grants",
    "bare_parts",
    "bars",
    "grants",
    "has_wildcard",
    "is_called",
    "may_mean",
    "name_all",
    "name_stems",
    "overlaps",
    "prefixes",
    "reserved_message",
    "source_names",
]
