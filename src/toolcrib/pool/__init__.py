"""The pool: all capabilities, once each, under the names that models see.

    sources list capabilities → each gets a content hash and a state → names are made unique
    → entries → listeners hear what was added, changed and removed

`pool`        `Pool`: takes sources in, merges what they list, finds an entry by its name, and knows
              which source an entry comes from. `warm_up_best` starts the sleeping server of a hit
`merger`      who lists what, who has which name: a change costs what it touches. `listing` is what
              one source lists, `source_record` a source in the pool, `near_stems` whose names could
              be meant as another's, `settlement` what changed
`entry_table` `EntryTable`: all entries of one moment, which knows what changed since another;
              `entry_cache` for values that are made from them, and mended when they change
`resolver`    `NameResolver`: which thing a name means, or the error with the nearest names; for
              tools here, and for whatever else has names
`entries`     what becomes of one capability: its pin, its state, the remedy, its fingerprint
`events`      `EventBus`: who wants to know when the pool changes

In a file, so that nothing is parsed at the next start and definitions need no memory:

`pool_pack`   `PoolPack`: what sources listed, mapped; a definition is read when it is asked for.
              `pack_columns` and `definition_codec` are how it lies there, `pack_writer` writes it
`stored_sources`, `stored_entry`, `stored_groups`  the part of the pool that is looked up there

`Pool.entries` is replaced whole by each change. Whoever holds it sees one moment, and compares by
identity whether anything is new.

The pool decides nothing about rights: what a caller may see is decided by `toolcrib.search` and
`toolcrib.execute`, and whether a definition is approved by its source. It has no lock: the crib
lets one thread at a time change it, while any number read. The crib says when a pack is written.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.pool.entries import RECIPE_CHANGED, remedy
    from toolcrib.pool.entry_cache import EntryCache
    from toolcrib.pool.entry_table import EntryTable
    from toolcrib.pool.events import TOOLS_UPDATED, EventBus, ToolsUpdated
    from toolcrib.pool.pack_writer import FactMaker, PackPlan
    from toolcrib.pool.pool import Pool, warm_up_best
    from toolcrib.pool.pool_pack import POOL_FORMAT, PoolPack
    from toolcrib.pool.resolver import NameResolver, ambiguous_name, entry_names
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "entries": ("RECIPE_CHANGED", "remedy"),
            "entry_cache": ("EntryCache",),
            "entry_table": ("EntryTable",),
            "events": ("TOOLS_UPDATED", "EventBus", "ToolsUpdated"),
            "pack_writer": ("FactMaker", "PackPlan"),
            "pool": ("Pool", "warm_up_best"),
            "pool_pack": ("POOL_FORMAT", "PoolPack"),
            "resolver": ("NameResolver", "ambiguous_name", "entry_names"),
        },
    )
