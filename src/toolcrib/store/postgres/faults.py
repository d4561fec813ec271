"""What goes wrong with a database, as a `StoreError` with a cause and a remedy, and no secret."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

import psycopg
from psycopg import errors

from toolcrib.errors import StoreAway, StoreError

_AWAY: Mapping[type[psycopg.Error], str] = {
    errors.AdminShutdown: "it is being shut down; wait until it is back",
    errors.CannotConnectNow: "it is starting; wait until it is up",
    errors.TooManyConnections: "it has too many connections; raise `max_connections`",
    errors.ReadOnlySqlTransaction: "it is a standby, and can only be read; name the primary",
}
_REFUSED: Mapping[type[psycopg.Error], str] = {
    errors.DiskFull: "its disk is full; free some space",
    errors.QueryCanceled: "it took too long; try again later",
    errors.LockNotAvailable: "another process is writing; try again later",
    errors.IdleInTransactionSessionTimeout: "this process was stopped for too long; try again",
    errors.SerializationFailure: "another process was writing; try again",
    errors.DeadlockDetected: "another process was writing; try again",
    errors.InsufficientPrivilege: "the role lacks a right: grant it, see `toolcrib help postgres`",
    errors.UndefinedTable: "a table is missing; run `toolcrib db migrate`",
    errors.UndefinedColumn: "a column is missing; run `toolcrib db migrate`",
    errors.DataError: "it takes no text with a NUL character; leave that out",
}

# Of a login that was refused psycopg has the server's words alone.
_NOT_LET_IN: Mapping[str, str] = {
    "password": "the password is missing or wrong; set it where `store_password_env` says",
    "pg_hba.conf": "the server lets nobody in from here by this role; see its pg_hba.conf",
    "does not exist": "create the role and the database as `toolcrib help postgres` says",
}


@contextmanager
def explained(place: str) -> Generator[None]:
    """Whatever goes wrong with the database in this block is a `StoreError` that explains it."""
    try:
        yield
    except TimeoutError as error:
        raise StoreAway(f"{place}: {error}; check the network, and that it is up") from error
    except psycopg.Error as error:
        raise _error(place, error) from error


def _error(place: str, error: psycopg.Error) -> StoreError:
    said = " ".join(str(error).split())
    for kind, remedy in _AWAY.items():
        if isinstance(error, kind):
            return StoreAway(f"{place}: {remedy} ({said})")
    for kind, remedy in _REFUSED.items():
        if isinstance(error, kind):
            return StoreError(f"{place}: {remedy} ({said})")
    for word, remedy in _NOT_LET_IN.items():
        if error.sqlstate is None and word in said:
            return StoreError(f"{place}: {remedy} ({said})")
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return StoreAway(f"{place}: it cannot be reached; check that it is up ({said})")
    return StoreError(f"{place}: the database refused ({said})")
