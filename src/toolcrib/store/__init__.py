"""The store: what lasts longer than a process, in files.

    catalog.db    `catalog_file`  the index, cached vectors, reveals, use; can be made again
    decisions.db  `decisions`     which definitions were approved or rejected; sealed
    tickets.db    `tickets`       calls that wait for approval, or have it
    events.db     `events`        the log of events, and `rollups` of it by the hour
    vectors.db    `vector_file`   cached vectors of whoever has no catalog file
    packs/        `pack`          what a pool and its index were, mapped at the next start

`SqliteStore` is the catalog file. Others know it by the protocols of `protocol`: a `VectorCache`,
a `UseStore`, a `RevealStore`. `embeddings`, `reveals` and `uses` are its tables, and `connections`
its readers and its one writer. The index writes its own tables through `SqliteStore.write`.

`Decisions` cannot be made again, so it has a file of its own. `seals` shows whether another hand
has changed it: what a broken seal covers approves nothing. The rows are in `decision_rows`. Only
`toolcrib.review` writes the operator's verdicts.

`database` is what all files share: how one is made, opened and brought up to date, and what to do
when the disk is full or a file is damaged. `file_clock` counts time where the wall clock may jump.

Everything here raises `StoreError` when a file cannot be read or written. The names are many
because each file has its rows; whoever needs one file needs a few of them.
"""

from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.store.catalog_file import (
        SqliteStore,
        catalog_condition,
        sqlite_version,
    )
    from toolcrib.store.decision_rows import Decision
    from toolcrib.store.decisions import Decisions, ToolDecisions
    from toolcrib.store.embeddings import vector_bytes
    from toolcrib.store.event_filter import EventFilter
    from toolcrib.store.events import EventFile, LoggedConversation, Retention
    from toolcrib.store.pack import Pack, PackDamaged, set_pack_aside, write_pack
    from toolcrib.store.protocol import UseStore, VectorCache
    from toolcrib.store.reveals import StoredReveals
    from toolcrib.store.rollups import BOUNDS_S, HOUR_S, Rollup, RollupKey
    from toolcrib.store.seals import install_key
    from toolcrib.store.tickets import TicketBinding, TicketFile, TicketRow, TicketState
    from toolcrib.store.uses import (
        UseLesson,
        UseLessonKey,
        UsePair,
        UseRecord,
    )
    from toolcrib.store.vector_file import VectorFile
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "catalog_file": ("SqliteStore", "catalog_condition", "sqlite_version"),
            "decision_rows": ("Decision",),
            "decisions": ("Decisions", "ToolDecisions"),
            "embeddings": ("vector_bytes",),
            "event_filter": ("EventFilter",),
            "events": ("EventFile", "LoggedConversation", "Retention"),
            "pack": ("Pack", "PackDamaged", "set_pack_aside", "write_pack"),
            "protocol": ("UseStore", "VectorCache"),
            "reveals": ("StoredReveals",),
            "rollups": ("BOUNDS_S", "HOUR_S", "Rollup", "RollupKey"),
            "seals": ("install_key",),
            "tickets": ("TicketBinding", "TicketFile", "TicketRow", "TicketState"),
            "uses": (
                "UseLesson",
                "UseLessonKey",
                "UsePair",
                "UseRecord",
            ),
            "vector_file": ("VectorFile",),
        },
    )

__all__ = [
    "BOUNDS_S",
    "HOUR_S",
    "Decision",
    "Decisions",
    "EventFile",
    "EventFilter",
    "LoggedConversation",
    "Pack",
    "PackDamaged",
    "Retention",
    "Rollup",
    "RollupKey",
    "SqliteStore",
    "StoredReveals",
    "TicketBinding",
    "TicketFile",
    "TicketRow",
    "TicketState",
    "ToolDecisions",
    "UseLesson",
    "UseLessonKey",
    "UsePair",
    "UseRecord",
    "UseStore",
    "VectorCache",
    "VectorFile",
    "catalog_condition",
    "install_key",
    "set_pack_aside",
    "sqlite_version",
    "vector_bytes",
    "write_pack",
]
