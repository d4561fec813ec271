"""Which tenants a database has. Of what they own, nothing is shown here.

A tenant comes to be when it is added, or when something is first written for it.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from toolcrib.store.postgres.database import Connection, Database
from toolcrib.store.postgres.tenant import TELL

_LISTED = "SELECT set_config('toolcrib.tenants', 'listed', true)"
_ROW = "SELECT tenant, extract(epoch FROM made_at)::float8, disabled, generation FROM tenant"
_OWN = f"{_ROW} WHERE tenant = current_setting('toolcrib.tenant')"
_SWITCH = "UPDATE tenant SET disabled = %s, generation = generation + 1"


class Tenant(NamedTuple):
    """One tenant: its name, when it was made, whether it is switched off, its generation."""

    name: str
    made_at: float
    disabled: bool
    generation: int


class TenantRegistry:
    """The tenants of a database. Everything here raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> Sequence[Tenant]:
        """Every tenant, by name."""
        with self._database.transaction("", "read") as db:
            return [Tenant(*row) for row in _listed(db, f"{_ROW} ORDER BY tenant")]

    def find(self, name: str) -> Tenant | None:
        """The tenant of this name; None if there is none."""
        with self._database.transaction(name, "read") as db:
            row = db.execute(_OWN).fetchone()
        return Tenant(*row) if row else None

    def generations(self, names: Collection[str]) -> Mapping[str, int]:
        """How far each of these is; one that is not there is absent."""
        sql = "SELECT tenant, generation FROM tenant WHERE tenant = ANY(%s)"
        with self._database.transaction("", "read") as db:
            rows: list[tuple[str, int]] = _listed(db, sql, [*names])
            return dict(rows)

    def add(self, name: str) -> bool:
        """Make a tenant that owns nothing yet. False: there is one of this name."""
        sql = "INSERT INTO tenant DEFAULT VALUES ON CONFLICT DO NOTHING RETURNING TRUE"
        with self._database.transaction(name, "durable") as db:
            return db.execute(sql).fetchone() is not None

    def switch(self, name: str, *, disabled: bool) -> bool:
        """Switch a tenant off or on; gateways hear of it. False: there is none of this name."""
        with self._database.transaction(name, "durable") as db:
            found = db.execute(_SWITCH, (disabled,)).rowcount > 0
            db.execute(TELL)
        return found


def _listed(db: Connection, sql: str, *values: object) -> list[Any]:
    """Rows of all tenants, in a transaction that may see which there are."""
    db.execute(_LISTED)
    return db.execute(sql.encode(), values or None).fetchall()
