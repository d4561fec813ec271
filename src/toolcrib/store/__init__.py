"""The store: what lasts longer than a process, in files.

    catalog.db    `catalog_file`  the index, cached vectors, reveals, use; can be made again
    decisions.db  `decisions`     which definitions were approved or rejected; sealed
    tickets.db    `tickets`       calls that wait for approval, or have it
    handles.db    `handle_file`   reveal sets, long results for ten minutes, suspended programs
    events.db     `events`        the log of events, and `rollups` of it by the hour
    keys.db       `keys`          the keys of clients, as hashes
    vectors.db    `vector_file`   cached vectors of whoever has no catalog file
    packs/        `pack`          what a pool and its index were, mapped at the next start

Others know a store by its protocol, because a database that gateways share keeps the same things:
`protocol` draws all of them, and `trust_protocol`, `handle_protocol`, `event_protocol` and
`source_protocol` have their contracts. `file_stores` opens the files, and nobody else does.

`SqliteStore` is the catalog file: a `VectorCache`, a `UseStore`, a `RevealStore`. `embeddings`,
`reveals` and `uses` are its tables, and `connections` its readers and its one writer. The index
writes its own tables through `SqliteStore.write`.

`Decisions` cannot be made again, so it has a file of its own. `seals` shows whether another hand
has changed it: what a broken seal covers approves nothing. The rows are in `decision_rows`. Only
`toolcrib.review` writes the operator's verdicts.

`database` is what all files share: how one is made, opened and brought up to date, and what to do
when the disk is full or a file is damaged. `file_clock` counts time where the wall clock may jump.

Everything here raises `StoreError` when a file cannot be read or written. The names are many
because each file has its rows; whoever needs one file needs a few of them.
"""

# pyright: reportUnusedImport=false
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
    from toolcrib.store.event_protocol import EventStore
    from toolcrib.store.events import EventFile, LoggedConversation, Retention
    from toolcrib.store.file_stores import (
        DECISIONS_FILE,
        LISTINGS_FOLDER,
        FileStores,
        StorePlaces,
    )
    from toolcrib.store.handle_file import HandleFile
    from toolcrib.store.handle_protocol import (
        HELD_BYTES,
        MOST_SET_TOOLS,
        MOST_SETS,
        UNUSED_S,
        ResultStore,
        RevealSetStore,
        StoredSet,
        SuspensionStore,
    )
    from toolcrib.store.key_protocol import KeyStore
    from toolcrib.store.keys import KeyFile, KeyHash, StoredKey, new_key_id
    from toolcrib.store.listing_files import ListingFiles
    from toolcrib.store.login_files import LoginFiles
    from toolcrib.store.pack import Pack, PackDamaged, set_pack_aside, write_pack
    from toolcrib.store.protocol import (
        RevealStore,
        SharedStores,
        Store,
        Stores,
        UseStore,
        VectorCache,
    )
    from toolcrib.store.recent_keys import RecentKeys
    from toolcrib.store.replica import ReplicaStores
    from toolcrib.store.reveals import StoredReveals
    from toolcrib.store.rollups import BOUNDS_S, HOUR_S, Rollup, RollupKey
    from toolcrib.store.seals import install_key
    from toolcrib.store.source_protocol import (
        ChangeFeed,
        Changes,
        DocumentChanged,
        DocumentName,
        DocumentStore,
        ListingHead,
        ListingKey,
        ListingStore,
        PackStore,
        StoredDocument,
        StoredListing,
        TenantsFeed,
    )
    from toolcrib.store.tickets import TicketBinding, TicketFile, TicketRow, TicketState
    from toolcrib.store.trust_protocol import DecisionStore, Login, LoginStore, TicketStore
    from toolcrib.store.uses import (
        UseLesson,
        UseLessonKey,
        UsePair,
        UseRecord,
    )
    from toolcrib.store.vector_file import VectorFile
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "catalog_file": ("SqliteStore", "catalog_condition", "sqlite_version"),
            "decision_rows": ("Decision",),
            "decisions": ("Decisions", "ToolDecisions"),
            "embeddings": ("vector_bytes",),
            "event_filter": ("EventFilter",),
            "events": ("EventFile", "LoggedConversation", "Retention"),
            "file_stores": (
                "DECISIONS_FILE",
                "LISTINGS_FOLDER",
                "FileStores",
                "StorePlaces",
            ),
            "key_protocol": ("KeyStore",),
            "keys": ("KeyFile", "KeyHash", "StoredKey", "new_key_id"),
            "handle_file": ("HandleFile",),
            "listing_files": ("ListingFiles",),
            "login_files": ("LoginFiles",),
            "pack": ("Pack", "PackDamaged", "set_pack_aside", "write_pack"),
            "protocol": (
                "RevealStore",
                "SharedStores",
                "Store",
                "Stores",
                "UseStore",
                "VectorCache",
            ),
            "recent_keys": ("RecentKeys",),
            "replica": ("ReplicaStores",),
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
            "event_protocol": ("EventStore",),
            "handle_protocol": (
                "HELD_BYTES",
                "MOST_SETS",
                "MOST_SET_TOOLS",
                "UNUSED_S",
                "ResultStore",
                "RevealSetStore",
                "StoredSet",
                "SuspensionStore",
            ),
            "source_protocol": (
                "ChangeFeed",
                "Changes",
                "StoredDocument",
                "DocumentChanged",
                "DocumentName",
                "DocumentStore",
                "ListingHead",
                "ListingKey",
                "ListingStore",
                "PackStore",
                "StoredListing",
                "TenantsFeed",
            ),
            "trust_protocol": (
                "DecisionStore",
                "Login",
                "LoginStore",
                "TicketStore",
            ),
        },
    )
