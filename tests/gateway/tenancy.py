"""A gateway of several tenants on a real database, and what their people see over HTTP."""

import asyncio
import gc
import json
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.gateway.daemons import Answer, bare, call, opened, serving
from tests.postgres import KEY
from tests.waiting import HANG_S, until_async
from toolcrib.crib import Crib
from toolcrib.gateway import KeyTerms
from toolcrib.gateway.daemon import Daemon
from toolcrib.gateway.keys import Keys
from toolcrib.gateway.server import GatewayServers
from toolcrib.settings import Settings
from toolcrib.store import Retention
from toolcrib.store.postgres import (
    Database,
    DatabaseAddress,
    PostgresStores,
    SharedDatabase,
    TenantPlaces,
)

KEY_VARIABLE = "SHARED_SECRET"
SERVER = Path(__file__).with_name("tenant_server.py")
WORDS = {"acme": "aardvark", "globex": "giraffe"}
"""What only the tools of each tenant say."""


class Site(NamedTuple):
    """The database, as the operator reaches it."""

    address: DatabaseAddress
    shared: SharedDatabase
    folder: Path

    def stores(self, tenant: str) -> PostgresStores:
        places = TenantPlaces(tenant, self.folder / "operator" / tenant, KEY, Retention(100, 1, 1))
        return PostgresStores(self.shared, places)

    def key(self, tenant: str, name: str = "ann", terms: KeyTerms | None = None) -> str:
        """A new key of a tenant."""
        return Keys(self.stores(tenant).keys).add(name, terms or KeyTerms())

    def write(self, tenant: str, name: Any, content: bytes) -> None:
        """Write a document of a tenant, as a command does."""
        documents = self.stores(tenant).documents
        before = documents.document(name)
        documents.put_document(name, content, before.version if before else None)

    def add_shop(self, tenant: str) -> None:
        """Give a tenant the server `shop`, whose tools say the word of the tenant."""
        entry = {"command": sys.executable, "args": ["-S", str(SERVER), WORDS[tenant]]}
        self.write(tenant, "servers.json", json.dumps({"mcpServers": {"shop": entry}}).encode())

    def settings(self, **gateway: Any) -> Settings:
        """Those of a gateway that serves all tenants, unless it is said otherwise."""
        every = {"tenants": ["*"], "mode": "search", **gateway}
        shared = {"store": self.address.text, "install_key_env": KEY_VARIABLE}
        more = {"approval": {"wait_s": 0}, "observe": {"metrics": True}}
        return bare(**shared, gateway=every, **more).read_from(None)


@contextmanager
def site_at(address: DatabaseAddress, folder: Path) -> Generator[Site]:
    with ExitStack() as stack:
        shared = stack.enter_context(closing(SharedDatabase(Database(address))))
        yield Site(address, shared, folder)


class Gateway(NamedTuple):
    """A gateway that runs. `said` has all that each tenant's people were told."""

    daemon: Daemon
    port: int
    said: dict[str, list[bytes]]

    async def tool(self, tenant: str, key: str, tool: str, /, **arguments: Any) -> Answer:
        """Call one of the gateway's tools."""
        answer = await call(self.port, key, tool, **arguments)
        self.said.setdefault(tenant, []).append(answer.body)
        return answer

    async def until_found(self, tenant: str, key: str, tool: str) -> None:
        """Wait until a search finds a tool."""

        async def is_there() -> bool:
            answer = await self.tool(tenant, key, "tool_search", queries=[tool])
            return f"mcp_shop_{tool}".encode() in answer.body

        await until_async(is_there, f"{tenant} finds {tool}")


@asynccontextmanager
async def gateway(
    site: Site, settings: Settings, free: Callable[[], object] = gc.collect
) -> AsyncGenerator[Gateway]:
    """It runs meanwhile, with MCP servers on its own loop."""
    loop = asyncio.get_running_loop()
    opening = opened(settings, servers=GatewayServers)._replace(
        crib=lambda given: Crib.from_settings(given, loop=loop), free=free
    )
    async with serving(site.folder, opening=opening) as (daemon, at):
        yield Gateway(daemon, at.port, {})


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def within() -> None:
        async with asyncio.timeout(4 * HANG_S):
            await test()

    asyncio.run(within())


def result_of(answer: Answer) -> Mapping[str, Any]:
    assert answer.status == 200, answer
    return answer.json["result"]
