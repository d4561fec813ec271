"""Ways to look up a capability, each alone: three arms, kept by one of two engines.

    Entry → document_of → Document → engine (memory or sqlite) → View
    View → arm.lookup(variant) → Ranking

document      a capability as the indexes see it: terms by field, labels, text to embed
catalog       `Catalog`: an engine and an embedder, kept in step with the entries of the pool
worker        the thread on which vectors are made
late_interaction  how well a tool answers every word of a query, for the second look
protocol      what an arm, a view and an engine promise
some_arms     a view with some arms of another
fuzzy_match   the formula of the `like` arm: parts of words and typos in names, titles and tags
bm25_formula  the formula of the `bm25` arm, and how much each field counts
memory/       packed arrays, mapped from a file or made, and what changed since laid over them
sqlite/       tables in the catalog file (FTS5, sqlite-vec), for many processes

In memory/ a `Snapshot` is an `IndexBase` under an `Overlay`; the base is made of `packed_words` and
`postings`, and `index_pack` is its file (a pack of `toolcrib.store`).

Both engines rank alike; one contract test runs against both. A view is one generation: a search
sees the same index from its first lookup to its last, whatever is written meanwhile. A rebuild
makes the next generation beside the current one and then switches.

It does not fuse, filter by rights or cut: that is `toolcrib.search`. The file itself, its
migrations and the cache of vectors are in `toolcrib.store`. Which engine a process uses, and when
an index is rebuilt, is decided in `toolcrib.crib`.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.index.bm25_formula import FieldWeights
    from toolcrib.index.catalog import Catalog
    from toolcrib.index.document import Document, document_of, server_words
    from toolcrib.index.memory.bm25 import bm25_arm
    from toolcrib.index.memory.engine import MemoryEngine
    from toolcrib.index.memory.index_pack import INDEX_FORMAT
    from toolcrib.index.protocol import Arm, Progress, Superseded, View
    from toolcrib.index.some_arms import SomeArms
    from toolcrib.index.sqlite.engine import SqliteEngine
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "bm25_formula": ("FieldWeights",),
            "catalog": ("Catalog",),
            "document": ("Document", "document_of", "server_words"),
            "memory.bm25": ("bm25_arm",),
            "memory.engine": ("MemoryEngine",),
            "memory.index_pack": ("INDEX_FORMAT",),
            "protocol": ("Arm", "Progress", "Superseded", "View"),
            "some_arms": ("SomeArms",),
            "sqlite.engine": ("SqliteEngine",),
        },
    )
