"""The OAuth logins of a tenant at servers, encrypted: the database sees no token."""

import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from toolcrib.store.postgres.sealing import Encryption, derived_key
from toolcrib.store.postgres.tenant import TenantDatabase, take_turns
from toolcrib.store.trust_protocol import Login

FORMAT = 1
TURN_S = 30.0
"""How long one waits for another who renews; and how long that may take."""

_PUT = """
    INSERT INTO login (server, sealed, written) VALUES (%s, %s, %s)
    ON CONFLICT (tenant, server) DO UPDATE
    SET sealed = excluded.sealed, written = excluded.written
"""
_RENEW = "UPDATE login SET sealed = %(sealed)s, written = %(written)s WHERE server = %(server)s"


class PostgresLogins:
    """The logins of one tenant. Keeps `LoginStore`."""

    def __init__(self, tenant: TenantDatabase, key: bytes) -> None:
        self._tenant = tenant
        self._encryption = Encryption(derived_key(key, "logins", tenant.tenant))

    def read(self, server: str, url: str) -> Login | None:
        """As the protocol says."""
        login = self.login(server)
        return login if login and login.url == url else None

    def login(self, server: str) -> Login | None:
        """The login at a server, whatever its address; None if there is none that can be used."""
        with self._tenant.transaction("read") as db:
            row = db.execute("SELECT sealed FROM login WHERE server = %s", (server,)).fetchone()
        text = self._encryption.decrypt(row[0], server) if row else None
        return _login(text) if text else None

    def write(self, server: str, login: Login, *, renews: bool = False) -> None:
        """As the protocol says."""
        text = json.dumps({"format": FORMAT} | asdict(login)).encode()
        sealed, written = self._encryption.encrypt(text, server), time.time()
        with self._tenant.transaction("durable") as db:
            if renews:
                db.execute(_RENEW, {"server": server, "sealed": sealed, "written": written})
            else:
                db.execute(_PUT, (server, sealed, written))

    def forget(self, server: str) -> bool:
        """As the protocol says."""
        with self._tenant.transaction("durable") as db:
            return db.execute("DELETE FROM login WHERE server = %s", (server,)).rowcount > 0

    def written(self, server: str) -> float:
        """As the protocol says."""
        with self._tenant.transaction("read") as db:
            row = db.execute("SELECT written FROM login WHERE server = %s", (server,)).fetchone()
        return row[0] if row else 0.0

    @contextmanager
    def renewing(self, server: str) -> Generator[None]:
        """As the protocol says. Whoever dies in it, or is stopped for long, gives its turn up."""
        with self._tenant.transaction("quick", within_s=2 * TURN_S) as db:
            db.execute("SELECT set_config('lock_timeout', %s, true)", (f"{TURN_S:.0f}s",))
            take_turns(db, "login", server)
            yield


def _login(text: bytes) -> Login | None:
    """The login that a text says; None for one of another format."""
    try:
        content: Any = json.loads(text)
        return Login(**content) if content.pop("format") == FORMAT else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
