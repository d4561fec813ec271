"""The tenants that a gateway serves beside its own: each is opened when somebody of it comes.

    a credential ──> TenantRouter ──> its tenant ──> Tenants ──> ServingState of that tenant

Each has a crib, servers, sessions and keys of its own; they share the process, the database and the
models. Those that are open are bounded by the memory that they take. Of too many, the one that was
used longest ago is closed, if nobody would miss it; it comes back from its packs.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from functools import partial

from toolcrib.crib import Crib, CribSize, inventory_of, open_tenant, tenant_settings
from toolcrib.errors import ConfigError, StoreAway, StoreError, ToolcribError
from toolcrib.gateway.background_tasks import BackgroundTasks
from toolcrib.gateway.closed_cribs import ClosedCribs
from toolcrib.gateway.credentials import CannotTell
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.server import GatewayServers
from toolcrib.gateway.serving_state import ServingState
from toolcrib.http import App, HttpRefusal, Receive, Scope, Send
from toolcrib.model import Json
from toolcrib.settings import Settings
from toolcrib.sources.mcp import ServerCommand

MEGABYTE = 1_000_000
CLOSED_SHARE = 8
"""Closed tenants may take one part of so many of the memory, before they are freed."""
OPEN_S, AGAIN_S = 20.0, 0.5
"""How long a tenant is waited for whose store is too busy to open it, and how often it is tried."""

_log = logging.getLogger(__name__)


def check_tenants(settings: Settings) -> None:
    """Raises `ConfigError` where tenants are named, and there is no shared store."""
    if settings.gateway.tenants and not settings.database:
        remedy = "set `store` to the address of a database, or take it out"
        raise ConfigError(f"`gateway.tenants` is for a shared store; {remedy}")


class NotServed(Exception):
    """There is no such tenant here, or it is switched off."""


class OpenTenant:
    """One tenant that is open: its serving state, and who uses it now."""

    def __init__(self, name: str, state: ServingState) -> None:
        self.name = name
        self.state = state
        self.background = BackgroundTasks(state.crib)
        self.running = 0
        self.size = CribSize(state.crib)

    @property
    def is_busy(self) -> bool:
        """Whether something runs that must not be cut off: a request, a local server, indexing."""
        fleet = inventory_of(self.state.crib).fleet
        return (
            self.running > 0
            or not self.background.has_indexed
            or fleet.is_refreshing
            or any(
                isinstance(each.config.transport, ServerCommand) and each.status().state == "ready"
                for each in fleet.by_name.values()
            )
        )

    async def close(self) -> None:
        """End what serves it, and close its crib."""
        await self.background.close()
        await self.state.close()

    def describe(self) -> Json:
        """How it stands, for the operator."""
        return {
            "tenant": self.name,
            "tools": len(self.state.crib.entries()),
            "megabytes": round(self.size.measure() / MEGABYTE, 1),
            "running": self.running,
            "http": self.state.sessions.principals(),
        }


class Tenants:
    """The open ones of a gateway. Made for one event loop; `home` is what serves its own tenant."""

    def __init__(
        self,
        home: Callable[[], ServingState],
        servers: Callable[[Crib], GatewayServers],
        port: int,
        free: Callable[[], object],
    ) -> None:
        """`free` frees what nobody holds any more; see `ClosedCribs`."""
        self._home, self._servers, self._port = home, servers, port
        self._closed = ClosedCribs(free)
        self._open: OrderedDict[str, OpenTenant] = OrderedDict()
        self._opening: dict[str, asyncio.Task[OpenTenant]] = {}
        self._closing: dict[str, asyncio.Task[None]] = {}
        self._changes: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._is_closed = False
        self._is_over = False

    def __iter__(self) -> Iterator[OpenTenant]:
        return iter(tuple(self._open.values()))

    @property
    def home(self) -> ServingState:
        """What serves the gateway's own tenant."""
        return self._home()

    def is_open(self, name: str) -> bool:
        """Whether this one is open, or the gateway's own."""
        return name in self._open or self._is_home(name)

    @asynccontextmanager
    async def held(self, name: str) -> AsyncGenerator[ServingState]:
        """What serves this tenant, which stays open meanwhile. It is opened if it is not.

        Raises `NotServed`, and `CannotTell` where it cannot be opened now.
        """
        if self._is_home(name):
            yield self.home
            return
        tenant = await self._opened(name)
        self._open.move_to_end(name)
        tenant.running += 1
        try:
            yield tenant.state
        finally:
            tenant.running -= 1

    def transport(self, principal: Principal) -> App:
        """The app that answers a principal of whatever tenant."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                async with self.held(principal.tenant) as state:
                    await state.sessions.of(principal)(scope, receive, send)
            except NotServed as error:  # it was switched off just now
                raise HttpRefusal(401, "unauthorized", str(error)) from None
            except CannotTell as error:
                raise HttpRefusal(503, error.code, str(error)) from None

        return answer

    async def look(self) -> None:
        """Drop whose credential works no longer, send what waits, and keep within the memory."""
        for tenant in self:
            await tenant.state.drop_revoked()
            await tenant.state.send_rest()
        self.make_room()
        if self._closed.size > self._most_bytes // CLOSED_SHARE:
            await self._closed.free()

    def make_room(self) -> None:
        """Close what nobody uses until the others fit: first those without a session."""
        most = self._most_bytes
        total = sum(each.size.measure() for each in self)
        idle = [each for each in self if total > most and not each.is_busy]
        for tenant in sorted(idle, key=lambda each: each.state.sessions.has_sessions):
            if total > most:
                total -= tenant.size.measure()
                self._close_soon(tenant)
        if total > most and not self._is_over:
            _log.warning("the tenants in use take %d MB, more than they may", total // MEGABYTE)
        self._is_over = total > most

    async def end_sessions(self) -> None:
        """End every session over HTTP."""
        await asyncio.gather(*(each.state.sessions.close() for each in self))

    async def close(self) -> None:
        """Close all; none is opened any more."""
        self._is_closed = True
        await self.close_open()

    async def close_open(self) -> None:
        """Close all that are open, so that they come back by the settings of now."""
        await asyncio.gather(*self._opening.values(), return_exceptions=True)
        for tenant in self:
            self._close_soon(tenant)
        await asyncio.gather(*self._closing.values(), *self._changes, return_exceptions=True)

    @property
    def _most_bytes(self) -> int:
        return self.home.crib.settings.gateway.tenant_memory_mb * MEGABYTE

    async def _opened(self, name: str) -> OpenTenant:
        """An open tenant; whoever comes while it is opened waits for the same opening."""
        while (tenant := self._open.get(name)) is None:
            if self._is_closed or not self._serves(name):
                raise NotServed("this tenant is not served here")
            if name not in self._opening:
                task = self._opening[name] = asyncio.create_task(self._opening_of(name))
                task.add_done_callback(lambda _task: self._opening.pop(name, None))
            tenant = await asyncio.shield(self._opening[name])
            if self._open.get(name) is tenant:
                return tenant
        return tenant

    def _is_home(self, name: str) -> bool:
        """Whether it is the gateway's own tenant; without a shared store there is no other."""
        settings = self.home.crib.settings
        return not settings.database or name == settings.tenant

    def _serves(self, name: str) -> bool:
        patterns = self.home.crib.settings.of_gateway.gateway.tenants
        return any(fnmatchcase(name, each) for each in patterns)

    async def _opening_of(self, name: str) -> OpenTenant:
        """Open it, in a thread: others are served meanwhile. Raises as `held`."""
        if name in self._closing:
            await asyncio.shield(self._closing[name])
        began = time.monotonic()
        try:
            crib = await self._crib(name, began + OPEN_S)
        except StoreAway as error:
            problem = "the shared store does not answer, so this tenant cannot be opened"
            raise CannotTell("store_away", f"{problem}; try again later") from error
        except ToolcribError as error:
            _log.error("the tenant %s cannot be opened: %s", name, error)
            problem = "what this credential is for cannot be opened; ask the operator"
            raise CannotTell("tenant_unavailable", f"{problem}, whose log says why") from error
        if crib is None:
            raise NotServed("there is no such tenant")
        tenant = OpenTenant(name, self._serving_state(crib))
        tenant.background.start()
        self._open[name] = tenant
        _log.info("opened the tenant %s in %.2f s", name, time.monotonic() - began)
        self._loop.call_soon(self.make_room)
        return tenant

    async def _crib(self, name: str, until: float) -> Crib | None:
        """As `open_tenant`; on a busy machine a store may answer too late, and is asked again."""
        while True:
            try:
                tell = partial(self._tell, name)
                return await asyncio.to_thread(open_tenant, self.home.crib, name, self._loop, tell)
            except StoreError:
                if self._is_closed or time.monotonic() >= until:
                    raise
            await asyncio.sleep(AGAIN_S)

    def _serving_state(self, crib: Crib) -> ServingState:
        return ServingState(crib, self._servers, self._port, takes_tokens=False)

    def _close_soon(self, tenant: OpenTenant) -> None:
        self._open.pop(tenant.name, None)
        task = self._closing[tenant.name] = asyncio.create_task(self._close(tenant))
        task.add_done_callback(partial(self._forget, tenant.name))

    async def _close(self, tenant: OpenTenant) -> None:
        size = tenant.size.measure()
        await tenant.close()
        self._closed.add(tenant.state.crib, size)

    def _forget(self, name: str, _task: "asyncio.Task[None]") -> None:
        self._closing.pop(name, None)

    def _tell(self, name: str) -> None:
        """The operator has changed something of a tenant. Called on any thread."""
        self._loop.call_soon_threadsafe(self._take_soon, name)

    def _take_soon(self, name: str) -> None:
        if tenant := self._open.get(name):
            task = asyncio.create_task(self._take(tenant))
            self._changes.add(task)
            task.add_done_callback(self._changes.discard)

    async def _take(self, tenant: OpenTenant) -> None:
        """Go on by what its documents say now; what cannot be used changes nothing."""
        crib = tenant.state.crib
        try:
            settings = await asyncio.to_thread(
                tenant_settings, self.home.crib.settings, tenant.name
            )
            before = crib.settings
            fits = await asyncio.to_thread(crib.operator.take_settings, settings)
        except ToolcribError as error:
            _log.error("%s; what it said before holds", error)
            return
        if self._open.get(tenant.name) is not tenant:
            return
        if not fits:
            self._close_soon(tenant)  # whoever comes next opens it by the new ones
        elif before.gateway != settings.gateway:
            await self._serve_anew(tenant, settings)
        tenant.background.look()

    async def _serve_anew(self, tenant: OpenTenant, settings: Settings) -> None:
        old, tenant.state = tenant.state, self._serving_state(tenant.state.crib)
        await old.leave()
        _log.info("the settings of the tenant %s have changed", settings.tenant)
