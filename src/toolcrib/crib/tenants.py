"""The cribs of other tenants, beside the one of a process.

They share its parts and nothing else: each has the servers, rules, settings, decisions and folders
of its own tenant.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING
from weakref import ReferenceType, ref

from toolcrib.crib.crib import Crib
from toolcrib.crib.internals import crib_beside, inventory_of, parts_of
from toolcrib.settings import Settings, with_tenant_document
from toolcrib.store import ReplicaStores

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from pathlib import Path

    from toolcrib.pool import EntryTable

CRIB_BYTES = 400_000
"""What a crib takes that has no tool: stores, caches, the stages themselves. As the next one, it is
what the process grew by for each of some dozen tenants: `benchmarks/replicas/tenants.py`."""
ENTRY_BYTES = 7_000
"""What an entry takes that comes from no pack: its definition as it was listed (2,100), what was
decided about it (2,400), the entry itself and its part of the index. Python traces 4,700 to 6,000
for tenants of 250 to 10,000 tools, and 7,700 for the first ones, which fill caches that all share.
`tests/gateway/test_tenant_memory.py` holds it to that."""


def tenant_settings(gateway: Settings, tenant: str) -> Settings:
    """The settings of a tenant, as its copies on this machine say. Raises `ConfigError`."""
    return with_tenant_document(gateway.of_tenant(tenant))


def open_tenant(
    beside: Crib,
    tenant: str,
    loop: asyncio.AbstractEventLoop,
    on_documents: Callable[[], None],
) -> Crib | None:
    """The crib of a tenant, on the parts of one that is open; to be closed before that one.

    None for a tenant that there is not, or that is switched off: nothing is made for it. What the
    operator changes of the tenant is told by `on_documents`, on another thread. Takes its time: not
    for an event loop. Raises `ConfigError` and `StoreError`.
    """
    parts, gateway = parts_of(beside), beside.settings
    found = parts.find_tenant(tenant)
    if found is None or found.disabled:
        return None
    with closing(parts.stores(gateway.of_tenant(tenant))) as stores:
        if isinstance(stores, ReplicaStores):
            stores.catch_up()  # so that its settings and servers are here
    return crib_beside(beside, tenant_settings(gateway, tenant), loop, on_documents)


class CribSize:
    """About how much memory a crib takes.

    Of entries that come from packs it is the packs, which are mapped: as if all of them were in
    memory. Of entries that were made here it is a mean each, also when they were packed since:
    their sources remember them. The model is shared, and counts nowhere.
    """

    def __init__(self, crib: Crib) -> None:
        self._crib = crib
        self._made = 0
        self._bytes = 0
        self._seen: ReferenceType[EntryTable] | None = None

    def measure(self) -> int:
        """In bytes, as of now."""
        entries = inventory_of(self._crib).pool.entries
        if self._seen is None or self._seen() is not entries:
            self._made = max(self._made, len(entries) - len(entries.stored))
            packs = sum(map(_size, self._crib.index.files)) if entries.stored else 0
            self._bytes = CRIB_BYTES + packs + self._made * ENTRY_BYTES
            self._seen = ref(entries)
        return self._bytes


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
