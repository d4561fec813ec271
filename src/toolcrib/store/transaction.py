"""One transaction: all of a block, or nothing of it."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

import apsw


@contextmanager
def transaction(
    db: apsw.Connection, mode: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE"
) -> Generator[None]:
    """Commit when the block ends, roll back when it raises. IMMEDIATE is for whoever writes.

    Not apsw's own `with db`: that one fails where SQLite, out of space, has rolled back by itself.
    """
    db.execute(f"BEGIN {mode}")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
