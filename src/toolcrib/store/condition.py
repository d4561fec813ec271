"""A look at a catalog file from outside: nothing is made, mended or brought up to date."""

from pathlib import Path
from typing import NamedTuple

import apsw

from toolcrib.errors import StoreError
from toolcrib.store.faults import DAMAGE, FAULTS, explain
from toolcrib.store.migrations import APPLICATION, MIGRATIONS

OLDEST_SQLITE = (3, 51, 3)  # before it, a write-ahead log that is reset may lose pages


class Condition(NamedTuple):
    """The version of the file, the newest that is known here, and what is broken, if anything."""

    version: int
    newest: int
    damage: str = ""


def condition(path: Path) -> Condition:
    """How the file is. Raises `StoreError` if it cannot be read or is not ours."""
    newest = len(MIGRATIONS)
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            version = int(db.pragma("user_version"))
            ours = db.pragma("application_id") == APPLICATION
            said = str(db.execute("PRAGMA quick_check(1)").get)
        finally:
            db.close()
    except DAMAGE as error:
        return Condition(0, newest, str(error))
    except FAULTS as error:
        raise StoreError(explain(path, error)) from error
    if version and not ours:
        raise StoreError(f"{path} is another program's database; name another file")
    if version > newest:
        raise StoreError(f"{path} was written by a newer Toolcrib; upgrade toolcrib")
    return Condition(version, newest, "" if said == "ok" else said)


def sqlite_version() -> str:
    return apsw.sqlite_lib_version()
