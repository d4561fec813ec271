"""Packs that one replica makes and all others load, in parts, each pack sealed.

    pack        its head: the generation, how large it is, the digest of its bytes, and a seal
    pack_part   its bytes, a few megabytes a row

A pack is written in one transaction, and read part by part: so no reader holds a transaction open
for long, and neither has more than a part in memory. The seal is by a key that is made from the
install key. A head without it counts as none; bytes with another digest than their head says are
never handed on as whole, and their pack is removed.
"""

import hmac
from collections.abc import Callable, Iterable
from hashlib import sha256

from toolcrib.errors import StoreError
from toolcrib.store.postgres.database import Connection
from toolcrib.store.postgres.sealing import Sealer, derived_key
from toolcrib.store.postgres.tenant import TenantDatabase, may_begin
from toolcrib.store.source_protocol import PackHead

PACK_S = 300.0
"""How long it may take to store a pack."""
PART_S = 30.0
"""How long it may take to fetch one part."""
MOST_PACKS = 4
"""So many names are kept, those that were stored last: of other versions and models."""

_HEAD = """
    SELECT generation, bytes, extract(epoch FROM now() - made)::float8, parts, digest, seal
    FROM pack WHERE name = %s
"""
_PART = """
    SELECT body FROM pack_part JOIN pack USING (tenant, name)
    WHERE name = %s AND number = %s AND seal = %s
"""
_PUT = """
    INSERT INTO pack (name, generation, parts, bytes, digest, seal) VALUES (%s, %s, 0, 0, '', '')
"""
_PUT_PART = "INSERT INTO pack_part (name, number, body) VALUES (%s, %s, %b)"
_FINISH = "UPDATE pack SET parts = %s, bytes = %s, digest = %s, seal = %s WHERE name = %s"
_REMOVE = "DELETE FROM pack WHERE name = %s"
_REMOVE_DAMAGED = "DELETE FROM pack WHERE name = %s AND seal = %s"
_REMOVE_OLD = """
    DELETE FROM pack WHERE name IN (SELECT name FROM pack ORDER BY made DESC OFFSET %s)
"""


class PostgresPacks:
    """The packs of one tenant. Keeps `PackStore`."""

    def __init__(self, tenant: TenantDatabase, install_key: bytes) -> None:
        self._tenant = tenant
        self._key = derived_key(install_key, "packs", tenant.tenant)
        self._sealer = Sealer(derived_key(install_key, "pack heads", tenant.tenant))

    @property
    def key(self) -> bytes:
        """As the protocol says."""
        return self._key

    def pack_head(self, name: str) -> PackHead | None:
        """As the protocol says."""
        with self._tenant.transaction("read") as db:
            return self._head(db, name)

    def fetch_pack(self, name: str, head: PackHead, write: Callable[[bytes], object]) -> None:
        """As the protocol says."""
        from toolcrib.store.pack import PackDamaged  # noqa: PLC0415 - loads numpy

        digest = sha256()
        for number in range(head.parts):
            part = self._part(name, number, head)
            digest.update(part)
            write(part)
        if not hmac.compare_digest(digest.digest(), head.digest):
            self._remove_damaged(name, head)
            raise PackDamaged(f"{self._tenant.place}: the pack {name!r} is not as it was sealed")

    def put_pack(self, name: str, generation: int, parts: Iterable[bytes]) -> bool:
        """As the protocol says."""
        with self._tenant.transaction("quick", PACK_S) as db:
            if not may_begin(db, "packs"):
                return False
            there = self._head(db, name)
            if there and there.generation >= generation:
                return False
            db.execute(_REMOVE, (name,))
            db.execute(_PUT, (name, generation))
            digest, number, size = sha256(), 0, 0
            for number, part in enumerate(parts, 1):
                db.execute(_PUT_PART, (name, number - 1, part))
                digest.update(part)
                size += len(part)
            seal = self._sealer.seal(_sealed(name, generation, number, size, digest.digest()))
            db.execute(_FINISH, (number, size, digest.digest(), seal, name))
            db.execute(_REMOVE_OLD, (MOST_PACKS,))
            return True

    def _head(self, db: Connection, name: str) -> PackHead | None:
        row = db.execute(_HEAD, (name,)).fetchone()
        head = PackHead(*row) if row else None
        if head is None:
            return None
        values = _sealed(name, head.generation, head.parts, head.bytes, head.digest)
        return head if self._sealer.is_sealed(head.seal, values) else None

    def _part(self, name: str, number: int, head: PackHead) -> bytes:
        """A part; empty if somebody has taken it away. Raises `StoreError` for another pack."""
        with self._tenant.transaction("read", PART_S) as db:
            if row := db.execute(_PART, (name, number, head.seal), binary=True).fetchone():
                return row[0]
            now = self._head(db, name)
        if now is None or now.seal != head.seal:
            raise StoreError(f"{self._tenant.place}: another replica has just replaced its pack")
        return b""

    def _remove_damaged(self, name: str, head: PackHead) -> None:
        with self._tenant.transaction("quick") as db:
            db.execute(_REMOVE_DAMAGED, (name, head.seal))


def _sealed(name: str, generation: int, parts: int, size: int, digest: bytes) -> list[object]:
    """What a seal covers."""
    return [name, generation, parts, size, digest.hex()]
