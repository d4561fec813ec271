"""The catalog of a tenant in a database: cached vectors, what is kept about use, reveals.

Vectors are shared by all tenants: they are found by the hash of a text that one has to know. The
index is no part of it: each gateway has its own, in memory.
"""

import json
import os
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from toolcrib.model import ConversationTokens
from toolcrib.store.embeddings import STORED, vector_bytes
from toolcrib.store.postgres.database import Connection
from toolcrib.store.postgres.tenant import TenantDatabase, take_turns
from toolcrib.store.postgres.uses import add_uses, forget_uses, read_uses
from toolcrib.store.reveals import FRESH, MOST_SESSIONS, RevealRow
from toolcrib.store.uses import UseRecord

UNUSED_DAYS = 90
"""The reveals of a session that nobody has used for so long are let go."""
KEY_BYTES = 16

_KEEP_VECTORS = """
    INSERT INTO embedding (model, text_hash, vector)
    SELECT %s, * FROM unnest(%s::bytea[], %s::bytea[]) AS given (text_hash, vector) ORDER BY 1, 2
    ON CONFLICT (model, text_hash) DO UPDATE SET vector = excluded.vector
"""
_REVEALS = """
    SELECT names, used > (SELECT max(used) FROM reveal) - %s, tokens, listed
    FROM reveal WHERE caller = %s AND session = %s
"""
_KEEP_REVEALS = """
    INSERT INTO reveal (caller, session, names, tokens, listed) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (tenant, caller, session) DO UPDATE SET names = excluded.names,
        tokens = excluded.tokens, listed = excluded.listed, used = DEFAULT, at = now()
"""
_TOUCH = "UPDATE reveal SET used = DEFAULT, at = now() WHERE caller = %s AND session = %s"
_FORGET = "DELETE FROM reveal WHERE caller = %s AND session = %s"
_SWEEP = """
    DELETE FROM reveal WHERE at < now() - make_interval(days => %s) OR used <= (
        SELECT used FROM reveal ORDER BY used DESC LIMIT 1 OFFSET %s
    )
"""


class PostgresCatalog:
    """The catalog of one tenant. Keeps `Store`."""

    def __init__(self, tenant: TenantDatabase) -> None:
        self._tenant = tenant

    def cached_vectors(
        self, model: str, hashes: Sequence[bytes]
    ) -> dict[bytes, NDArray[np.float32]]:
        """As the protocol says. The vectors cannot be written to."""
        sql = "SELECT text_hash, vector FROM embedding WHERE model = %s AND text_hash = ANY(%s)"
        with self._tenant.transaction("read") as db:
            rows = db.execute(sql, (model, list(hashes)), binary=True).fetchall()
        return {text_hash: np.frombuffer(vector, STORED) for text_hash, vector in rows}

    def present_vectors(self, model: str, hashes: Sequence[bytes]) -> set[bytes]:
        """As the protocol says."""
        sql = "SELECT text_hash FROM embedding WHERE model = %s AND text_hash = ANY(%s)"
        with self._tenant.transaction("read") as db:
            return {row[0] for row in db.execute(sql, (model, list(hashes)), binary=True)}

    def keep_vectors(self, model: str, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """As the protocol says."""
        bodies = list(map(vector_bytes, vectors.values()))
        with self._tenant.transaction("quick") as db:
            db.execute(_KEEP_VECTORS, (model, list(vectors), bodies))

    def used(self) -> UseRecord:
        """As the protocol says."""
        with self._tenant.transaction("quick") as db:
            sql = "INSERT INTO use_key (key) VALUES (%s) ON CONFLICT DO NOTHING"
            db.execute(sql, (os.urandom(KEY_BYTES),))
            return read_uses(db)

    def keep_used(self, more: UseRecord, *, half_life_days: float) -> None:
        """As the protocol says."""
        with self._tenant.transaction("quick") as db:
            add_uses(db, more, half_life_days)

    def forget_used(self, tool: str = "") -> int:
        """As the protocol says."""
        with self._tenant.transaction("durable") as db:
            return forget_uses(db, tool)

    def reveals(self, caller: str, session: str) -> tuple[str, ...]:
        """As the protocol says."""
        with self._tenant.transaction("read") as db:
            row = _read(db, caller, session)
        if not row.is_fresh:
            with self._tenant.transaction("quick") as db:
                db.execute(_TOUCH, (caller, session))
        return row.names

    def add_reveals(self, caller: str, session: str, names: Sequence[str]) -> tuple[str, ...]:
        """As the protocol says."""
        with self._tenant.transaction("durable") as db:
            before, _, tokens = _read(db, caller, session, locks=True)
            new = tuple(name for name in dict.fromkeys(names) if name not in before)
            _write(db, caller, session, (*before, *new), tokens)
        return new

    def keep_reveals(self, caller: str, session: str, names: Collection[str]) -> None:
        """As the protocol says."""
        with self._tenant.transaction("durable") as db:
            before, _, tokens = _read(db, caller, session, locks=True)
            _write(db, caller, session, [name for name in before if name in names], tokens)

    def conversation_tokens(self, caller: str, session: str) -> ConversationTokens:
        """As the protocol says."""
        with self._tenant.transaction("read") as db:
            return _read(db, caller, session).tokens

    def set_conversation_tokens(
        self, caller: str, session: str, tokens: ConversationTokens
    ) -> None:
        """As the protocol says."""
        with self._tenant.transaction("quick") as db:
            names = _read(db, caller, session, locks=True).names
            _write(db, caller, session, names, tokens)

    def close(self) -> None:
        """As the protocol says."""
        self._tenant.close()


def _read(db: Connection, caller: str, session: str, *, locks: bool = False) -> RevealRow:
    """What a session has revealed; one that is not known has revealed nothing.

    Whoever writes it then locks it, whether or not it is there: two may add to it at once.
    """
    if locks:
        take_turns(db, "reveal", caller, session)
    for names, is_fresh, tokens, listed in db.execute(_REVEALS, (FRESH, caller, session)):
        length = ConversationTokens(int(tokens), listed)
        return RevealRow(tuple(json.loads(names)), bool(is_fresh), length)
    return RevealRow((), is_fresh=True)


def _write(
    db: Connection, caller: str, session: str, names: Sequence[str], tokens: ConversationTokens
) -> None:
    """Keep these as the newest. What has nothing left takes no place."""
    if not names and tokens == ConversationTokens():
        db.execute(_FORGET, (caller, session))
        return
    db.execute(_KEEP_REVEALS, (caller, session, json.dumps(list(names)), *tokens))
    db.execute(_SWEEP, (UNUSED_DAYS, MOST_SESSIONS))
