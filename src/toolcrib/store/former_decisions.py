"""Decisions as they were kept before they were sealed: each row with a MAC, filed by name alone."""

import hashlib
import json
from collections.abc import Sequence
from typing import NamedTuple

import apsw

from toolcrib.text.canonical import canonical


class Former(NamedTuple):
    """The sources that were taken over, and whether first sight was trusted."""

    sources: tuple[str, ...]
    trusted: bool


def adopt(db: apsw.Connection, key: bytes) -> Former:
    """File the rows of before under the configurations that they were made for.

    Of a server with a row that was altered none counts, and it is known all the same.
    """
    former = db.execute("SELECT * FROM former_decision").fetchall()
    altered = {row[0] for row in former if not _is_whole(row, key)}
    filed = [(_filed(row), *row[1:-1]) for row in former if row[0] not in altered]
    db.executemany("INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?, ?, ?, ?)", filed)
    trust = db.execute("SELECT * FROM former_first_sight").fetchall()
    trusted = trust == [(1, _mac(["first_sight", 1], key))] or not (trust or former)
    db.execute("DROP TABLE former_decision; DROP TABLE former_first_sight")
    known = dict.fromkeys([row[0] for row in filed] + [f"{each}#altered" for each in altered])
    return Former(tuple(known), trusted)


def _is_whole(row: Sequence[object], key: bytes) -> bool:
    try:
        return row[-1] == _mac(row[:-1], key) and bool(_filed(row))
    except (TypeError, ValueError, LookupError, RecursionError):
        return False


def _filed(row: Sequence[object]) -> str:
    """Under its server as that was configured. Raises what the parser raises, `LookupError`."""
    return f"{row[0]}#{json.loads(str(row[6]))['config_hash']}"


def _mac(values: Sequence[object], key: bytes) -> bytes:
    return hashlib.blake2b(canonical(list(values)).encode(), key=key).digest()
