"""Writes tenants into a database, in the home of the replica that will serve them.

    python -m benchmarks.replicas.tenant_seed < request.json

Each has a key, a list with one server, and what that server would list: rows through the stores,
so that no server has to run. Tenants of one size have the same tools, which are read once. Prints
an object with `name`, `tools` and `key` a line.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.observe_world import made_up_tools
from toolcrib.gateway.keys import Keys
from toolcrib.settings import Settings
from toolcrib.sources.mcp import McpServers
from toolcrib.sources.mcp.listing import ServerFacts, ServerIntroduction, ServerListing
from toolcrib.store import SharedStores, StoredListing
from toolcrib.store.postgres import (
    Database,
    DatabaseAddress,
    PostgresStores,
    SharedDatabase,
    TenantPlaces,
)


def main() -> None:
    asked: Mapping[str, Any] = json.load(sys.stdin)
    key = bytes.fromhex(asked["install_key"])
    every = made_up_tools(max(size for _, size in asked["tenants"]))
    listings: dict[int, StoredListing] = {}
    with closing(SharedDatabase(Database(DatabaseAddress(asked["store"])))) as shared:
        for name, size in asked["tenants"]:
            folder = Settings().of_tenant(name).state_folder
            stores = PostgresStores(shared, TenantPlaces(name, folder, key, None))
            shown = _write(stores, Path(asked["servers"]), every[:size], listings)
            print(json.dumps({"name": name, "tools": size, "key": shown}), flush=True)


def _write(
    stores: PostgresStores,
    servers: Path,
    tools: Sequence[Mapping[str, Any]],
    listings: dict[int, StoredListing],
) -> str:
    list_tools(stores, servers, tools, listings)
    return Keys(stores.keys).add("ann")


def list_tools(
    stores: SharedStores,
    servers: Path,
    tools: Sequence[Mapping[str, Any]],
    listings: dict[int, StoredListing],
) -> None:
    """Write a list with one server, and these as its tools.

    `servers` is the file with that server, as our own file of any tenant has it. `listings` has
    what was written for so many tools before.
    """
    stores.documents.put_document("servers.json", servers.read_bytes(), None)
    opened = McpServers.open([servers], stores)
    (source,) = opened.sources
    key = source.listing_key
    if known := listings.get(len(tools)):
        stores.listings.put_listing(key, known)
    else:
        memory = source._memory  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - its answer goes there
        memory.keep(ServerIntroduction(ServerFacts("2025-11-25"), ServerListing((*tools,))), 0.1)
        if kept := stores.listings.listing(key):
            listings[len(tools)] = kept
    opened.close()


if __name__ == "__main__":
    main()
