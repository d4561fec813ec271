"""Who may see and call what: the scope of a caller, and the filters it makes.

    Entry, Scope → why_hidden            a search asks it, before anything is ranked
    Entry, Scope → why_barred            a call asks it
    EntryGroups, Scope → search_filter   all names that a search leaves out, by whole groups
    EntryGroups, Scope → call_filter     all names that a caller must not have

`scope`    `Scope`, and the verdict on one entry
`filters`  the same for all entries at once, made once for a scope and mended when entries change;
           `VisibleEntries` are what such a filter lets through

Both kinds of verdict run the same filters for rights and states; those of a search have three more,
which only tidy it: not searchable, already bound, other kind. A hidden tool takes no place in any
ranking. Patterns are matched by `toolcrib.names`.
"""

from toolcrib.access.filters import (
    GroupJudge,
    VisibleEntries,
    call_filter,
    count_unreviewed,
    search_filter,
    updated_filter,
)
from toolcrib.access.scope import (
    FilterVerdict,
    Scope,
    allows_source,
    why_barred,
    why_hidden,
)

__all__ = [
    "FilterVerdict",
    "GroupJudge",
    "Scope",
    "VisibleEntries",
    "allows_source",
    "call_filter",
    "count_unreviewed",
    "search_filter",
    "updated_filter",
    "why_barred",
    "why_hidden",
]
