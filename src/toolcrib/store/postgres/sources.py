"""What sources are made of, for all gateways of a tenant: documents and listings.

Each carries the generation in which it was written, so that a replica asks for what is newer than
its own.
"""

from hashlib import sha256

from toolcrib.errors import StoreError
from toolcrib.store.postgres.tenant import TenantDatabase
from toolcrib.store.source_protocol import (
    DocumentChanged,
    DocumentName,
    ListingHead,
    ListingKey,
    StoredDocument,
    StoredListing,
)

_PUT_DOCUMENT = """
    INSERT INTO document (name, content, generation) VALUES (%s, %s, %s)
    ON CONFLICT (tenant, name) DO UPDATE
    SET content = excluded.content, generation = excluded.generation
"""
_LISTING = """
    SELECT version, fetched, start_s, body FROM listing
    WHERE server = %s AND config_hash = %s AND body IS NOT NULL
"""
_HEAD = """
    SELECT version, fetched, start_s FROM listing
    WHERE server = %s AND config_hash = %s AND body IS NOT NULL
"""
_PUT_LISTING = """
    INSERT INTO listing (server, config_hash, version, fetched, start_s, body, generation)
    VALUES (%s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (tenant, server, config_hash) DO UPDATE SET version = excluded.version,
        fetched = excluded.fetched, start_s = excluded.start_s, body = excluded.body,
        generation = excluded.generation
"""
_FORGET_LISTING = """
    UPDATE listing SET version = NULL, body = NULL, generation = %s
    WHERE server = %s AND config_hash = %s
"""
_PUT_FAILURE = """
    INSERT INTO listing_failure (server, config_hash, body) VALUES (%s, %s, %s)
    ON CONFLICT (tenant, server, config_hash) DO UPDATE SET body = excluded.body
"""
_FORGET_FAILURE = "DELETE FROM listing_failure WHERE server = %s AND config_hash = %s"


class PostgresDocuments:
    """The documents of one tenant. Keeps `DocumentStore`."""

    def __init__(self, tenant: TenantDatabase) -> None:
        self._tenant = tenant

    def document(self, name: DocumentName) -> StoredDocument | None:
        """As the protocol says."""
        with self._tenant.transaction("read") as db:
            row = db.execute("SELECT content FROM document WHERE name = %s", (name,)).fetchone()
        return _document(row[0]) if row else None

    def put_document(self, name: DocumentName, content: bytes, over: str | None) -> StoredDocument:
        """As the protocol says."""
        with self._tenant.change("documents") as (db, generation):
            row = db.execute("SELECT content FROM document WHERE name = %s", (name,)).fetchone()
            if (_document(row[0]).version if row else None) != over:
                problem = f"{name} was changed meanwhile; read it again, and decide anew"
                raise DocumentChanged(f"{self._tenant.place}: {problem}")
            db.execute(_PUT_DOCUMENT, (name, content, generation))
        return _document(content)


class PostgresListings:
    """The listings of one tenant. Keeps `ListingStore`."""

    def __init__(self, tenant: TenantDatabase) -> None:
        self._tenant = tenant

    def listing(self, key: ListingKey) -> StoredListing | None:
        """As the protocol says."""
        with self._tenant.transaction("read") as db:
            row = db.execute(_LISTING, key, binary=True).fetchone()
        return StoredListing(ListingHead(*row[:-1]), row[-1]) if row else None

    def listing_head(self, key: ListingKey) -> ListingHead | None:
        """As the protocol says."""
        try:
            with self._tenant.transaction("read") as db:
                row = db.execute(_HEAD, key).fetchone()
        except StoreError:
            return None
        return ListingHead(*row) if row else None

    def put_listing(self, key: ListingKey, listing: StoredListing) -> None:
        """As the protocol says."""
        with self._tenant.change("listings") as (db, generation):
            db.execute(_PUT_LISTING, (*key, *listing.head, listing.body, generation))

    def forget_listing(self, key: ListingKey) -> None:
        """As the protocol says."""
        with self._tenant.change("listings") as (db, generation):
            db.execute(_FORGET_LISTING, (generation, *key))
            db.execute(_FORGET_FAILURE, key)

    def failure(self, key: ListingKey) -> bytes | None:
        """As the protocol says."""
        sql = "SELECT body FROM listing_failure WHERE server = %s AND config_hash = %s"
        with self._tenant.transaction("read") as db:
            row = db.execute(sql, key).fetchone()
        return row[0] if row else None

    def put_failure(self, key: ListingKey, failure: bytes | None) -> None:
        """As the protocol says."""
        with self._tenant.transaction("quick") as db:
            if failure is None:
                db.execute(_FORGET_FAILURE, key)
            else:
                db.execute(_PUT_FAILURE, (*key, failure))


def _document(content: bytes) -> StoredDocument:
    return StoredDocument(content, sha256(content).hexdigest())
