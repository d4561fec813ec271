"""Addresses of databases, as far as settings go: told from paths, and refused with a password."""

import re
from urllib.parse import parse_qs, urlsplit

SCHEMES = ("postgresql", "postgres")
SECRETS = {"password", "sslpassword"}

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def is_address(text: object) -> bool:
    """Whether a value of `store` is an address, and no path."""
    return isinstance(text, str) and _SCHEME.match(text) is not None


def check_address(text: str) -> None:
    """Raises `ValueError` for an address that cannot be used; a path is none of it."""
    if not (found := _SCHEME.match(text)):
        return
    if found[1] not in SCHEMES:
        raise ValueError("a database is PostgreSQL here: postgresql://user@host/database")
    parts = urlsplit(text)
    if parts.password is not None or SECRETS & parse_qs(parts.query, keep_blank_values=True).keys():
        remedy = (
            "take it out, and put it into a password file of libpq (~/.pgpass)"
            " or into the environment variable that `store_password_env` names"
        )
        raise ValueError(f"the address has a password in it; {remedy}")
