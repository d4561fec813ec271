"""The shared store: what lasts, in a PostgreSQL database that several gateways share.

    address      where the database is, and its password by reference
    database     connections, and transactions for one tenant
    watchdog     ends what waits on a network that swallows packets
    faults       what goes wrong, with a remedy
    migrations   numbered steps under a lock; the SQL lies in `sql/`
    tenant       the rows of one tenant, and changes that replicas hear of
    stores       all stores of a tenant: `catalog`, `decisions` (sealed: `seal_tree`), `tickets`,
                 `handles`, `events`, `logins`, `keys`, `sources`, `packs`
    tenant_registry   which tenants there are, and which are switched off
    feed         how a gateway hears of changes
    copying      files into a database and back: `copy_ends`, `copied_tables`

A `Database` is opened once in a process. Its transactions are for one tenant each, and the row
security of the server shows them no row of another. psycopg comes with the extra `postgres`, and is
loaded here alone.

Everything here raises `StoreError`, and `StoreAway` where the database cannot be reached.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.store.postgres.address import DatabaseAddress
    from toolcrib.store.postgres.copy_ends import CopyEnd, DatabaseEnd, FileEnd
    from toolcrib.store.postgres.copying import CopiedKind, copy_stores
    from toolcrib.store.postgres.database import Database
    from toolcrib.store.postgres.migrations import (
        DatabaseStatus,
        DoneMigration,
        check_migrated,
        database_status,
        migrate,
    )
    from toolcrib.store.postgres.stores import PostgresStores, SharedDatabase, TenantPlaces
    from toolcrib.store.postgres.tenant import TenantDatabase
    from toolcrib.store.postgres.tenant_registry import Tenant, TenantRegistry
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "address": ("DatabaseAddress",),
            "copy_ends": ("CopyEnd", "DatabaseEnd", "FileEnd"),
            "copying": ("CopiedKind", "copy_stores"),
            "database": ("Database",),
            "migrations": (
                "DatabaseStatus",
                "DoneMigration",
                "check_migrated",
                "database_status",
                "migrate",
            ),
            "stores": ("PostgresStores", "SharedDatabase", "TenantPlaces"),
            "tenant": ("TenantDatabase",),
            "tenant_registry": ("Tenant", "TenantRegistry"),
        },
    )
