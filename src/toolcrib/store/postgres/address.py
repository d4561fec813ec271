"""Where a database is: an address without a password, and the password beside it, never shown."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from toolcrib.errors import ConfigError

CONNECT_S = 3
"""How long a new connection may take; psycopg counts in whole seconds."""


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """`text` is what the setting `store` says. Without a password libpq looks for its own file."""

    text: str
    password: str | None = field(default=None, repr=False)

    @property
    def shown(self) -> str:
        """The address as messages have it: who, where, which database."""
        parts = urlsplit(self.text)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    def parameters(self) -> dict[str, Any]:
        """What psycopg is given. Raises `ConfigError` for an address that it cannot read."""
        try:
            given = conninfo_to_dict(self.text)
        except psycopg.ProgrammingError as error:
            problem = " ".join(str(error).split())
            raise ConfigError(f"the setting `store` is no address: {problem}") from None
        secret = {} if self.password is None else {"password": self.password}
        return {"connect_timeout": CONNECT_S, "application_name": "toolcrib"} | given | secret
